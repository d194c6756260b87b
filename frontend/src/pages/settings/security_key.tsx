/** The button by which a page asks for a security key or passkey, in the form that takes the key's answer:
 *
 *   <form method="post"> <input type="hidden" name="credential"> <div data-page="security-key" data-does="get" …></div>
 */

import { useRef, useState } from "preact/hooks";
import { messageOf, send } from "../../api/client.ts";

export interface SecurityKeyProps {
  /** `create` makes a key one's own, `get` asks it, `login` asks for a passkey of whoever is there. */
  does: "create" | "get" | "login";
  /** What the server asks of the key, as JSON; `login` fetches it from the address `from`. */
  asked: string;
  from: string;
  label: string;
}

const UNSUPPORTED = "This browser does not speak with security keys: a current one over HTTPS (or on localhost) does.";

export function SecurityKey({ does, asked, from, label }: SecurityKeyProps) {
  const button = useRef<HTMLButtonElement>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isWaiting, setWaiting] = useState(false);
  const ask = async () => {
    const form = button.current?.form;
    const answer = form?.elements.namedItem("credential");
    if (!form || !(answer instanceof HTMLInputElement)) throw new Error("the key's button has no form");
    setWaiting(true);
    setProblem(null);
    try {
      const options = does === "login" ? await send("GET", from) : JSON.parse(asked);
      const makesPasskey = form.elements.namedItem("passwordless");
      answer.value = JSON.stringify(
        does === "create"
          ? await created(options, makesPasskey instanceof HTMLInputElement && makesPasskey.checked)
          : await got(options),
      );
      form.submit();
    } catch (error) {
      setWaiting(false);
      setProblem(reasonOf(error));
    }
  };
  // On the login page the password's is.
  const kind = does === "login" ? "button" : "button primary";
  return (
    <div class="stack-s">
      <button ref={button} type="button" class={kind} disabled={isWaiting} onClick={() => void ask()}>
        {isWaiting ? "Waiting for the key…" : label}
      </button>
      {problem !== null && (
        <p class="notice bad" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

/** What a passkey must keep and ask for, which a second factor need not. */
export function forPasskey(options: PublicKeyCredentialCreationOptionsJSON): PublicKeyCredentialCreationOptionsJSON {
  const selection = options.authenticatorSelection;
  return {
    ...options,
    authenticatorSelection: {
      ...selection,
      residentKey: "required",
      requireResidentKey: true,
      userVerification: "required",
    },
  };
}

/** Why no key has answered, for people: browsers do not tell apart who declined and who took too long. */
export function reasonOf(error: unknown): string {
  const name = error instanceof DOMException ? error.name : "";
  if (name === "NotAllowedError") return "No key has answered: it was declined, or took too long. Try again.";
  if (name === "InvalidStateError") return "This key is yours already.";
  if (name === "SecurityError") return UNSUPPORTED;
  return messageOf(error);
}

async function created(asked: PublicKeyCredentialCreationOptionsJSON, isPasskey: boolean): Promise<unknown> {
  requireSupport();
  const options = PublicKeyCredential.parseCreationOptionsFromJSON(isPasskey ? forPasskey(asked) : asked);
  return answerOf(await navigator.credentials.create({ publicKey: options }));
}

async function got(asked: PublicKeyCredentialRequestOptionsJSON): Promise<unknown> {
  requireSupport();
  const options = PublicKeyCredential.parseRequestOptionsFromJSON(asked);
  return answerOf(await navigator.credentials.get({ publicKey: options }));
}

function requireSupport(): void {
  if (!("PublicKeyCredential" in window) || !("parseCreationOptionsFromJSON" in PublicKeyCredential))
    throw new Error(UNSUPPORTED);
}

function answerOf(credential: Credential | null): unknown {
  if (!(credential instanceof PublicKeyCredential)) throw new Error("No key has answered.");
  return credential.toJSON();
}
