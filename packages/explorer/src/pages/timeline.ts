import { type Html, html } from '@apistrata/ui';
import type { ElementHistory } from '../model/element-history.js';
import { linkTo, type Site } from './site.js';

/** Minimum distance between two labels, in percent of the timeline's width. */
const MIN_LABEL_DISTANCE_PERCENT = 9;
/** Minimum width of a mark, in percent of the timeline's width. */
const MIN_MARK_WIDTH_PERCENT = 0.9;

const LEGEND: readonly (readonly [kind: string, text: string])[] = [
  ['bar', 'exists'],
  ['step-added', 'added'],
  ['step-changed', 'changed'],
  ['step-breaking', 'breaking change'],
  ['here', 'selected version'],
];

const formatPercent = (value: number) => `${value.toFixed(2)}%`;

/** Returns the positions that have a label: both ends, and positions with sufficient distance from other labels. */
function labeledPositions(positions: readonly number[]): ReadonlySet<number> {
  const chosenPositions: number[] = [0, 100];
  for (const position of positions)
    if (chosenPositions.every((other) => Math.abs(other - position) >= MIN_LABEL_DISTANCE_PERCENT))
      chosenPositions.push(position);
  return new Set(chosenPositions);
}

/**
 * Renders an operation's history: bars for the versions in which it exists, a labeled mark at each change, and a line
 * at the selected version. The list of changes below the drawing is its text alternative.
 */
export function timeline(site: Site, element: ElementHistory): Html {
  const { versions } = site.api;
  const versionWidth = 100 / Math.max(versions.all.length, 1);
  const bars = element.spans.map(({ since, until }) => {
    const from = versions.indexOf(since);
    return html`<rect class="bar" x="${formatPercent(from * versionWidth)}" y="12" width="${formatPercent((versions.indexOf(until) - from + 1) * versionWidth)}" height="12" rx="3"/>`;
  });
  const steps = element.steps.flatMap((step) => {
    const version = versions.find(step.version);
    return version ? [{ step, version, at: versions.indexOf(version) * versionWidth }] : [];
  });
  const labels = labeledPositions(steps.map(({ at }) => at));
  const marks = steps.map(({ step, version, at }) => {
    const kind = step.breaking ? 'breaking' : step.change;
    return html`<a href="${linkTo({ ...site, version }, `/operations/${element.name}`)}"><title>${step.version}: ${step.change}</title><rect class="step step-${kind}" x="${formatPercent(at)}" y="8" width="${formatPercent(Math.max(versionWidth, MIN_MARK_WIDTH_PERCENT))}" height="20" rx="2"/>${labels.has(at) && html`<text x="${formatPercent(at)}" y="44" text-anchor="middle">${step.version}</text>`}</a>`;
  });
  const selectedPosition = formatPercent((versions.indexOf(site.version) + 0.5) * versionWidth);
  return html`<svg class="timeline" width="100%" height="50" role="group" aria-label="Versions ${versions.min.text} to ${versions.max.text}; changes at ${steps.map(({ step }) => step.version).join(', ') || 'none'}">
<rect class="ground" x="0" y="16" width="100%" height="4" rx="2"/>${bars}${marks}<line class="here" x1="${selectedPosition}" x2="${selectedPosition}" y1="2" y2="34"/>
<text x="0" y="44">${versions.min.text}</text><text x="100%" y="44" text-anchor="end">${versions.max.text}</text>
</svg><ul class="legend">${LEGEND.map(([kind, text]) => html`<li><svg width="12" height="12" aria-hidden="true"><rect class="${kind}" width="12" height="12" rx="3"/></svg>${text}</li>`)}</ul>`;
}
