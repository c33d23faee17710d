/** For so long an answer that is being made keeps others waiting at the most, in milliseconds. */
const TURN_MS = 4;
/** Items between two looks at the clock. */
const ITEMS = 8;

const waiting: (() => void)[] = [];

/** However many answers are being made, the event loop looks after everybody else between the turns of any two of them. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(give);
  });
}

function give(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(give);
}

/** Does a step for each item as long as the turn lasts; gives how many are done then. */
function oneTurn(from: number, count: number, step: (index: number) => void): number {
  const end = performance.now() + TURN_MS;
  for (let index = from; index < count; ) {
    step(index++);
    if (index % ITEMS === 0 && performance.now() > end) return index;
  }
  return count;
}

async function otherTurns(from: number, count: number, step: (index: number) => void): Promise<void> {
  for (let done = from; done < count; ) {
    await nextTurn();
    done = oneTurn(done, count, step);
  }
}

/**
 * Does a step for each of so many items, in order. What takes longer than a turn is done in several, with whatever else
 * the process has to do between them: only then is there a promise to wait for.
 */
export function inTurns(count: number, step: (index: number) => void): Promise<void> | undefined {
  const done = oneTurn(0, count, step);
  return done < count ? otherTurns(done, count, step) : undefined;
}
