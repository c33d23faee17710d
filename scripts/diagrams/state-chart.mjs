// Draws the actions that change the state of a server: a row for each state, and a column for each action, with an
// arrow from its initial to its final state.
import { svg, text } from './svg.mjs';

const ROW_HEIGHT = 34;
const COLUMN_WIDTH = 25;
const LABEL_AREA = { width: 132, height: 118 };
const MARGIN = 10;
const ARROWHEAD_SIZE = 6;

/** Returns a vertical arrow between two rows, with a dot where it starts. */
function arrow(x, from, to) {
  const side = to > from ? -1 : 1;
  const tip = to + side * 3;
  const wing = tip + side * ARROWHEAD_SIZE * 1.5;
  return `<path class="line" d="M${x} ${from}V${wing}"/><path class="tip" d="M${x} ${tip}L${x - ARROWHEAD_SIZE / 1.4} ${wing}H${x + ARROWHEAD_SIZE / 1.4}Z"/><circle class="tip" cx="${x}" cy="${from}" r="3.5"/>`;
}

/**
 * Returns the chart as SVG.
 * @param states names of the states, from top to bottom
 * @param actions the actions from left to right, each with its state changes
 */
export function stateChart(states, actions) {
  const width = LABEL_AREA.width + actions.length * COLUMN_WIDTH + 44;
  const height = LABEL_AREA.height + states.length * ROW_HEIGHT;
  const y = new Map(states.map((state, index) => [state, LABEL_AREA.height + index * ROW_HEIGHT + ROW_HEIGHT / 2]));
  const lanes = states.map(
    (state) =>
      `<path class="lane" d="M${LABEL_AREA.width} ${y.get(state)}H${width - 44}"/>${text(LABEL_AREA.width - 10, y.get(state) + 4.5, state, 'end')}`,
  );
  const columns = actions.map(({ name, moves }, index) => {
    const x = LABEL_AREA.width + index * COLUMN_WIDTH + COLUMN_WIDTH / 2;
    const label = `<g transform="translate(${x + 4} ${LABEL_AREA.height - 8}) rotate(-60)">${text(0, 0, name, 'start')}</g>`;
    const marks = moves.map(({ from, to }) =>
      from === to ? `<circle class="same" cx="${x}" cy="${y.get(from)}" r="5"/>` : arrow(x, y.get(from), y.get(to)),
    );
    return `${label}${marks.join('')}`;
  });
  return svg(width, height, 'States of a server and the actions that change them', [...lanes, ...columns], MARGIN);
}
