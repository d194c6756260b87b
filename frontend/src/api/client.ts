/** The client of the REST API: one fetch that adds session cookie and CSRF token, and turns problem+json into `ApiError`.
 *
 * Addresses, parameters, bodies and answers are typed by the generated schema: `call("GET", "/api/v1/runs/{id}", …)`
 * accepts exactly what that operation takes and returns exactly what it sends.
 */

import type { Problem, paths } from "./schema.ts";

export type FieldErrors = NonNullable<Problem["errors"]>;

export class ApiError extends Error {
  readonly status: number;
  readonly fieldErrors: FieldErrors;

  constructor(status: number, problem: Partial<Problem>) {
    super(sentence(status, problem));
    this.name = "ApiError";
    this.status = status;
    this.fieldErrors = problem.errors ?? {};
  }
}

function sentence(status: number, problem: Partial<Problem>): string {
  const given = problem.detail ?? problem.title;
  if (given) return given;
  if (status === 0) return "The server did not answer. Check that it is running, then try again.";
  if (status === 403) return "Your role in this project does not allow this.";
  if (status === 404) return "This does not exist, or you may not see it.";
  return `The server answered ${status}.`;
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
type Operation<M extends Method, P extends keyof paths> = paths[P][Lowercase<M>];
/** Addresses that have such an operation. */
type PathsOf<M extends Method> = {
  [P in keyof paths]: Operation<M, P> extends { readonly responses: unknown } ? P : never;
}[keyof paths];

type JsonIn<Content> = Content extends { readonly content: { readonly "application/json": infer Body } } ? Body : null;
/** What an operation sends when it succeeds; null for an empty answer. */
type AnswerOf<O> = O extends { readonly responses: infer Responses }
  ? JsonIn<Responses[keyof Responses & (200 | 201 | 202 | 204)]>
  : never;

type OptionalQuery<Query> = { readonly [Name in keyof Query]?: Query[Name] | undefined };
type PathOf<O> = O extends { readonly parameters: { readonly path: infer Path } }
  ? { readonly path: Path }
  : { readonly path?: never };
type QueryOf<O> = O extends { readonly parameters: { readonly query?: infer Query } }
  ? { readonly query?: OptionalQuery<NonNullable<Query>> }
  : { readonly query?: never };
type RequestBody<O> = O extends { readonly requestBody?: infer Body } ? NonNullable<Body> : never;
type BodyOf<O> = [RequestBody<O>] extends [never]
  ? { readonly body?: never }
  : { readonly body: JsonIn<RequestBody<O>> };
type OptionsOf<O> = PathOf<O> & QueryOf<O> & BodyOf<O> & { readonly signal?: AbortSignal | undefined };

/** Do one operation of the REST API. Throws `ApiError`, or the `AbortError` of the signal. */
export async function call<M extends Method, P extends PathsOf<M>>(
  method: M,
  path: P,
  options: OptionsOf<Operation<M, P>>,
): Promise<AnswerOf<Operation<M, P>>> {
  const { path: values, query, body, signal } = options as LooseOptions;
  const answer = await send(method, filled(path, values ?? {}) + searchOf(query ?? {}), body, signal);
  return answer as AnswerOf<Operation<M, P>>;
}

interface LooseOptions {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: QueryValues;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

export type QueryValues = Readonly<Record<string, string | number | boolean | undefined>>;

function filled(path: string, values: Readonly<Record<string, string | number>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
}

/** `{a: 1, b: undefined, c: ""}` → "?a=1". */
export function searchOf(values: QueryValues): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) {
    if (value !== undefined && value !== "") search.set(key, String(value));
  }
  const text = search.toString();
  return text ? `?${text}` : "";
}

/** One request. Returns the answer's JSON, or null for an empty one. Throws `ApiError`. */
export async function send(method: Method, address: string, body?: unknown, signal?: AbortSignal): Promise<unknown> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (method !== "GET") headers["X-CSRFToken"] = csrfToken();
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const request: RequestInit = { method, headers, credentials: "same-origin" };
  if (body !== undefined) request.body = JSON.stringify(body);
  if (signal) request.signal = signal;
  let response: Response;
  try {
    response = await fetch(address, request);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, {});
  }
  const text = await response.text();
  const answer: unknown = text && isJson(response) ? JSON.parse(text) : null;
  if (!response.ok) throw new ApiError(response.status, (answer ?? {}) as Partial<Problem>);
  return answer;
}

function csrfToken(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]')?.content ?? "";
}

function isJson(response: Response): boolean {
  return (response.headers.get("Content-Type") ?? "").includes("json");
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
