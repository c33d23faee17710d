// Draws the stages of request processing, with the statuses with which each stage rejects requests.
import { svg, text } from './svg.mjs';

const BOX_SIZE = { width: 124, height: 52 };
const BOX_GAP = { x: 26, y: 34 };
const COLUMN_COUNT = 5;

/** Returns the arrow to a stage, from the stage on the left or from the end of the row above. */
function arrowTo(index, { x, y }) {
  const middle = y + BOX_SIZE.height / 2;
  if (index === 0) return '';
  const tip = `<path class="tip" d="M${x - 2} ${middle}l-8 -4.5v9Z"/>`;
  if (index % COLUMN_COUNT > 0) return `<path class="line" d="M${x - BOX_GAP.x} ${middle}h${BOX_GAP.x - 9}"/>${tip}`;
  const above = y - BOX_GAP.y - BOX_SIZE.height / 2;
  const right = COLUMN_COUNT * (BOX_SIZE.width + BOX_GAP.x) - BOX_GAP.x;
  return `<path class="line" d="M${x + right} ${above}h13v${BOX_SIZE.height / 2 + BOX_GAP.y / 2}H${x - 13}V${middle}h4"/>${tip}`;
}

/**
 * Returns the diagram as SVG.
 * @param stages the stages in order, each with the statuses with which it rejects requests
 */
export function requestStages(stages) {
  const rows = Math.ceil(stages.length / COLUMN_COUNT);
  const parts = stages.map(({ name, statuses }, index) => {
    const position = {
      x: 14 + (index % COLUMN_COUNT) * (BOX_SIZE.width + BOX_GAP.x),
      y: Math.floor(index / COLUMN_COUNT) * (BOX_SIZE.height + BOX_GAP.y),
    };
    const middle = position.x + BOX_SIZE.width / 2;
    const box = `<rect class="box" x="${position.x}" y="${position.y}" width="${BOX_SIZE.width}" height="${BOX_SIZE.height}" rx="6"/>`;
    const [nameY, statusY] = statuses.length > 0 ? [22, 40] : [30];
    const label = text(middle, position.y + nameY, name, 'middle');
    const statusLabel =
      statusY === undefined ? '' : text(middle, position.y + statusY, statuses.join(', '), 'middle', 'soft');
    return `${arrowTo(index, position)}${box}${label}${statusLabel}`;
  });
  const width = COLUMN_COUNT * (BOX_SIZE.width + BOX_GAP.x) - BOX_GAP.x + 28;
  const height = rows * (BOX_SIZE.height + BOX_GAP.y) - BOX_GAP.y;
  return svg(width, height, 'Stages of a request, with the status codes with which they reject requests', parts, 14);
}
