// Draws the stages of a request, with the statuses of the requests that each stage rejects.
import { svg, text } from './svg.mjs';

const BOX = { width: 124, height: 52 };
const GAP = { x: 26, y: 34 };
const COLUMNS = 5;

/** Returns the arrow to a stage, from the stage on the left or from the end of the row above. */
function arrowTo(index, { x, y }) {
  const middle = y + BOX.height / 2;
  if (index === 0) return '';
  const tip = `<path class="tip" d="M${x - 2} ${middle}l-8 -4.5v9Z"/>`;
  if (index % COLUMNS > 0) return `<path class="line" d="M${x - GAP.x} ${middle}h${GAP.x - 9}"/>${tip}`;
  const above = y - GAP.y - BOX.height / 2;
  const right = COLUMNS * (BOX.width + GAP.x) - GAP.x;
  return `<path class="line" d="M${x + right} ${above}h13v${BOX.height / 2 + GAP.y / 2}H${x - 13}V${middle}h4"/>${tip}`;
}

/**
 * Returns the diagram as SVG.
 * @param stages the stages in order, each with the statuses of the requests that it rejects
 */
export function requestStages(stages) {
  const rows = Math.ceil(stages.length / COLUMNS);
  const parts = stages.map(({ name, statuses }, index) => {
    const position = {
      x: 14 + (index % COLUMNS) * (BOX.width + GAP.x),
      y: Math.floor(index / COLUMNS) * (BOX.height + GAP.y),
    };
    const middle = position.x + BOX.width / 2;
    const box = `<rect class="box" x="${position.x}" y="${position.y}" width="${BOX.width}" height="${BOX.height}" rx="6"/>`;
    const [nameY, statusY] = statuses.length > 0 ? [22, 40] : [30];
    const label = text(middle, position.y + nameY, name, 'middle');
    const statusLabel =
      statusY === undefined ? '' : text(middle, position.y + statusY, statuses.join(', '), 'middle', 'soft');
    return `${arrowTo(index, position)}${box}${label}${statusLabel}`;
  });
  const width = COLUMNS * (BOX.width + GAP.x) - GAP.x + 28;
  const height = rows * (BOX.height + GAP.y) - GAP.y;
  return svg(width, height, 'Stages of a request, and the statuses of requests that they reject', parts, 14);
}
