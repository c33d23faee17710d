import { type Html, html } from '../html.js';
import type { Lifeline } from '../model/lifeline.js';
import { linkTo, type Site } from './site.js';

/** Width of the drawing in its own units. */
const WIDTH = 1000;

/**
 * Renders the history of an operation over all versions: bars where it exists, a mark at each change, a line at the
 * selected version. The list of changes below the drawing is its text alternative.
 */
export function timeline(site: Site, line: Lifeline): Html {
  const { versions } = site.api;
  const unit = WIDTH / Math.max(versions.all.length, 1);
  const x = (index: number) => (index * unit).toFixed(1);
  const bars = line.spans.map(({ since, until }) => {
    const from = versions.indexOf(since);
    const width = ((versions.indexOf(until) - from + 1) * unit).toFixed(1);
    return html`<rect class="bar" x="${x(from)}" y="10" width="${width}" height="12" rx="3"/>`;
  });
  const marks = line.steps.flatMap((step) => {
    const version = versions.find(step.version);
    if (!version) return [];
    const kind = step.breaking ? 'breaking' : step.change;
    return html`<a href="${linkTo({ ...site, version }, `/operations/${line.name}`)}"><title>${step.version}: ${step.change}</title><rect class="step step-${kind}" x="${x(versions.indexOf(version))}" y="6" width="${Math.max(unit, 6).toFixed(1)}" height="20"/></a>`;
  });
  const here = x(versions.indexOf(site.version) + 0.5);
  return html`<svg class="timeline" viewBox="0 0 ${WIDTH} 46" role="group" aria-label="Versions ${versions.min.text} to ${versions.max.text}; changes at ${line.steps.map(({ version }) => version).join(', ') || 'none'}">
<rect class="ground" x="0" y="14" width="${WIDTH}" height="4"/>${bars}${marks}<line class="here" x1="${here}" x2="${here}" y1="0" y2="32"/>
<text x="0" y="44">${versions.min.text}</text><text x="${WIDTH}" y="44" text-anchor="end">${versions.max.text}</text>
</svg>`;
}
