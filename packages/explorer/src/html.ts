const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Markup that is safe to send: made by {@link html} only. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What may stand in a hole of a template: text is escaped, lists are joined, nothing is nothing. */
export type Hole = Html | string | number | false | null | undefined | readonly Hole[];

function fill(hole: Hole): string {
  if (hole === undefined || hole === null || hole === false) return '';
  if (hole instanceof Html) return hole.text;
  if (typeof hole === 'object') return hole.map(fill).join('');
  return String(hole).replace(/[&<>"']/g, (character) => ESCAPES[character] as string);
}

/** A template whose holes are escaped. */
export function html(strings: TemplateStringsArray, ...holes: readonly Hole[]): Html {
  return new Html(strings.map((text, index) => (index === 0 ? text : fill(holes[index - 1]) + text)).join(''));
}

/** Plain text in which names stand between backticks. */
export function prose(text: string | undefined): Html | undefined {
  if (text === undefined) return undefined;
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}
