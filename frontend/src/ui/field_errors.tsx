/** What the server refused at one field. */

export function FieldErrors({ of }: { of: readonly string[] | undefined }) {
  return of ? (
    <span class="small down" role="alert">
      {of.join(" ")}
    </span>
  ) : null;
}
