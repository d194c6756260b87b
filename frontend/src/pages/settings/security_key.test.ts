import assert from "node:assert/strict";
import { test } from "node:test";
import { forPasskey, reasonOf } from "./security_key.tsx";

test("a passkey stays on the key and asks for a person, whatever a second factor is asked", () => {
  const asked: PublicKeyCredentialCreationOptionsJSON = {
    challenge: "AAAA",
    rp: { id: "tandem", name: "tandem" },
    user: { id: "AA", name: "ada", displayName: "ada" },
    pubKeyCredParams: [],
    authenticatorSelection: { residentKey: "discouraged", userVerification: "preferred" },
  };
  assert.deepEqual(forPasskey(asked), {
    ...asked,
    authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
  });
});

test("what went wrong is told in words for people", () => {
  assert.match(reasonOf(new DOMException("", "NotAllowedError")), /took too long/);
  assert.match(reasonOf(new DOMException("", "InvalidStateError")), /yours already/);
  assert.equal(reasonOf(new Error("the server is away")), "the server is away");
});
