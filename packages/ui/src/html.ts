const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Markup that is safe to send. Created by {@link html}. */
export class Html {
  /** The markup as a string. */
  readonly text: string;

  /** @param text markup that is already escaped */
  constructor(text: string) {
    this.text = text;
  }
}

/** The values that {@link html} accepts: strings are escaped, lists are joined, `false`, `null` and `undefined` are omitted. */
export type TemplateValue = Html | string | number | false | null | undefined | readonly TemplateValue[];

function fill(hole: TemplateValue): string {
  if (hole === undefined || hole === null || hole === false) return '';
  if (hole instanceof Html) return hole.text;
  if (typeof hole === 'object') return hole.map(fill).join('');
  return String(hole).replace(/[&<>"']/g, (character) => ESCAPES[character] as string);
}

/**
 * Creates markup from a template whose values are escaped.
 *
 * @example
 * ```ts
 * import { html } from '@apistrata/ui';
 *
 * html`<p>${'1 < 2'}</p>`.text; // <p>1 &lt; 2</p>
 * ```
 */
export function html(strings: TemplateStringsArray, ...holes: readonly TemplateValue[]): Html {
  return new Html(strings.map((text, index) => (index === 0 ? text : fill(holes[index - 1]) + text)).join(''));
}

/** Returns plain text as markup, with the parts between backticks as code. Returns undefined for undefined. */
export function prose(text: string | undefined): Html | undefined {
  if (text === undefined) return undefined;
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}
