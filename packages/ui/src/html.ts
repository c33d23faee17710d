const HTML_ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Markup that is safe to send to a browser, because {@link html} has escaped all values in it. */
export class Html {
  /** The markup as a string. */
  readonly text: string;

  /** @param text markup that is already escaped */
  constructor(text: string) {
    this.text = text;
  }
}

/**
 * A value in an {@link html} template. Strings are escaped, lists are joined, and `false`, `null` and `undefined` are
 * omitted.
 */
export type TemplateValue = Html | string | number | false | null | undefined | readonly TemplateValue[];

function escapeValue(value: TemplateValue): string {
  if (value === undefined || value === null || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(escapeValue).join('');
  return String(value).replace(/[&<>"']/g, (character) => HTML_ESCAPES[character] as string);
}

/**
 * Template tag that creates markup and escapes all interpolated values.
 *
 * @example
 * ```ts
 * import { html } from '@apistrata/ui';
 *
 * html`<p>${'1 < 2'}</p>`.text; // <p>1 &lt; 2</p>
 * ```
 */
export function html(strings: TemplateStringsArray, ...values: readonly TemplateValue[]): Html {
  return new Html(strings.map((text, index) => (index === 0 ? text : escapeValue(values[index - 1]) + text)).join(''));
}

/**
 * Converts plain text to markup in which text between backticks becomes code. Returns undefined if the text is
 * undefined.
 */
export function prose(text: string | undefined): Html | undefined {
  if (text === undefined) return undefined;
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}
