import { highlight } from './highlight.js';
import { type Html, html, type TemplateValue } from './html.js';

/** The meaning of a component, which determines its color on all pages. */
export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'info';

/** Renders a short label, such as `since 2.26`. */
export function chip(content: TemplateValue, tone: Tone = 'plain'): Html {
  return html`<span class="chip${tone !== 'plain' && ` chip-${tone}`}">${content}</span>`;
}

/**
 * Renders an HTTP method in the color that this method has on all pages.
 *
 * @param text the text to show; default: the method
 */
export function methodLabel(method: string, text: string = method): Html {
  return html`<span class="method method-${method.toLowerCase()}">${text}</span>`;
}

/** Renders a note: a highlighted paragraph whose color depends on the tone. */
export function note(content: TemplateValue, tone: 'info' | 'warn' | 'bad' = 'info'): Html {
  return html`<div class="note${tone !== 'info' && ` note-${tone}`}" role="note">${content}</div>`;
}

/**
 * Renders a code block with a button that copies the code.
 *
 * @param label description of the code, for screen readers
 */
export function codeBlock(code: string, label: string): Html {
  return html`<div class="code"><pre tabindex="0" role="group" aria-label="${label}"><code>${highlight(code)}</code></pre><button type="button" class="copy" aria-label="Copy ${label}">Copy</button></div>`;
}

/** Renders a box with a heading. */
export function card(title: TemplateValue, content: TemplateValue): Html {
  return html`<div class="card"><div class="card-head">${title}</div>${content}</div>`;
}

/** The label and the content of a tab. */
export interface Tab {
  readonly label: string;
  readonly content: TemplateValue;
}

/** Options for {@link tabs}. */
export interface TabsOptions {
  /** Name of the tab group, unique on the page. */
  readonly name: string;
  /** Description of the tab group, for screen readers. */
  readonly label: string;
  /**
   * Whether a selected label is also selected in all other tab groups with this option, and on pages that are visited
   * later. Default: false.
   */
  readonly remembered?: boolean;
}

/** Renders up to eight tabs, which work without JavaScript. The first tab is selected. */
export function tabs(items: readonly Tab[], { name, label, remembered = false }: TabsOptions): Html {
  const bar = items.map(
    ({ label: tab }, index) =>
      html`<label><input type="radio" name="${name}" value="${tab}"${index === 0 && html` checked`}>${tab}</label>`,
  );
  const panels = items.map(({ content }) => html`<div>${content}</div>`);
  return html`<fieldset class="tabs"${remembered && html` data-remember`}><legend class="unseen">${label}</legend><div class="tabs-bar">${bar}</div><div class="tabs-panels">${panels}</div></fieldset>`;
}

/** Renders names with their values as a grid of boxes. */
export function facts(entries: readonly (readonly [name: string, value: TemplateValue])[]): Html {
  return html`<dl class="facts">${entries.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}
