/** A sentence of the server's, in which field names and values stand between backticks. */

export function Coded({ text }: { text: string }) {
  return <>{text.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>;
}
