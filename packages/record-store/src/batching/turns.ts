const waiting: (() => void)[] = [];

/**
 * For whoever has much to do: waits until it is their turn again. However many wait, the event loop looks after everybody
 * else between the turns of any two of them.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(give);
  });
}

function give(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(give);
}
