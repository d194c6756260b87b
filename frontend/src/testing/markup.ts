/** What components render, for tests: the markup of their first rendering, before any effect. */

import type { VNode } from "preact";
import { renderToString } from "preact-render-to-string";

export function markup(element: VNode): string {
  return renderToString(element);
}

const ENTITIES: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"' };

/** The words a reader sees, one space between those of neighbouring elements. */
export function textOf(element: VNode): string {
  return markup(element)
    .replace(/<[^>]+>/g, " ")
    .replace(/&\w+;/g, (entity) => ENTITIES[entity] ?? entity)
    .replace(/\s+/g, " ")
    .trim();
}

/** The values of an attribute, in the order of the elements that have it. */
export function attributes(element: VNode, name: string): string[] {
  return [...markup(element).matchAll(new RegExp(`\\s${name}="([^"]*)"`, "g"))].map(([, value]) => value ?? "");
}
