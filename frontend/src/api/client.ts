/** The REST border: one fetch, session cookie and CSRF token added, problem+json turned into `ApiError`. */

export type FieldErrors = Record<string, string[]>;

interface Problem {
  readonly title?: string;
  readonly detail?: string;
  readonly errors?: FieldErrors;
  readonly [other: string]: unknown;
}

export class ApiError extends Error {
  readonly status: number;
  readonly fieldErrors: FieldErrors;
  readonly problem: Problem;

  constructor(status: number, problem: Problem) {
    super(sentence(status, problem));
    this.name = "ApiError";
    this.status = status;
    this.problem = problem;
    this.fieldErrors = problem.errors ?? {};
  }
}

function sentence(status: number, problem: Problem): string {
  const said = problem.detail ?? problem.title;
  if (said) return said;
  if (status === 0) return "The server did not answer. Check that it is running, then try again.";
  if (status === 403) return "Your role in this project does not allow this.";
  if (status === 404) return "This does not exist, or you may not see it.";
  return `The server answered ${status}.`;
}

function csrfToken(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]')?.content ?? "";
}

export const API_ROOT = "/api/v1";

/** Call `method path` below the API root; the answer's JSON, or `null` for an empty one. Throws `ApiError`. */
export async function call<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (method !== "GET") headers["X-CSRFToken"] = csrfToken();
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const request: RequestInit = { method, headers, credentials: "same-origin" };
  if (body !== undefined) request.body = JSON.stringify(body);
  if (signal) request.signal = signal;
  let response: Response;
  try {
    response = await fetch(API_ROOT + path, request);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, {});
  }
  const text = await response.text();
  const answer: unknown = text && isJson(response) ? JSON.parse(text) : null;
  if (!response.ok) throw new ApiError(response.status, (answer ?? {}) as Problem);
  return answer as T;
}

function isJson(response: Response): boolean {
  return (response.headers.get("Content-Type") ?? "").includes("json");
}

/** `{a: 1, b: undefined, c: ""}` → "?a=1". */
export function query(parameters: Record<string, string | number | boolean | undefined>): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== "") search.set(key, String(value));
  }
  const text = search.toString();
  return text ? `?${text}` : "";
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
