import ts from 'typescript';

/** A machine under load takes its time; what waits for less fails by chance there. */
const LEAST_MS = 30_000;
const WAITS = new Set(['vi.waitFor', 'vi.waitUntil', 'expect.poll', 'eventually']);
/** What gives up after a second unless it is told otherwise. */
const HASTY = new Set(['vi.waitFor', 'vi.waitUntil']);
/** What reads a page as it is just then. */
const READS = new Set([
  ...['allInnerTexts', 'allTextContents', 'count', 'getAttribute', 'innerHTML', 'innerText', 'inputValue'],
  ...['isChecked', 'isDisabled', 'isEnabled', 'isVisible', 'textContent', 'title'],
]);

/** Places of a test where it looks at what may still be on its way, or does not wait long enough for it: `line: why`. */
export function earlyLooksIn(text: string): readonly string[] {
  if (!/playwright-core|waitFor|waitUntil|poll|eventually/.test(text)) return [];
  const source = ts.createSourceFile('test.ts', text, ts.ScriptTarget.Latest, true);
  const drivesBrowser = /from 'playwright-core'/.test(text);
  const found: string[] = [];
  const report = (node: ts.Node, why: string) =>
    found.push(`${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}: ${why}`);

  function visit(node: ts.Node, waited: boolean): void {
    let inside = waited;
    if (ts.isCallExpression(node) && WAITS.has(nameOf(node))) {
      const bound = boundOf(node.arguments[1]);
      if (bound === undefined ? HASTY.has(nameOf(node)) : bound < LEAST_MS)
        report(node, `${nameOf(node)} gives up after ${(bound ?? 1000) / 1000} s`);
      inside = true;
    }
    if (drivesBrowser && !waited && ts.isAwaitExpression(node) && readsPage(node.expression))
      report(node, 'a page is read once: expect.poll waits until it is as expected');
    // Functions that have a name are called by somebody who waits, or does not; only what is awaited in place counts.
    ts.forEachChild(node, (child) => visit(child, inside || isGiven(child)));
  }
  visit(source, false);
  return found;
}

/** `expect.poll`, however the lines are broken. */
function nameOf({ expression }: ts.CallExpression): string {
  return expression.getText().replace(/\s/g, '');
}

/** Milliseconds after which a wait is over, where they stand there. */
function boundOf(options: ts.Expression | undefined): number | undefined {
  if (!options) return undefined;
  if (ts.isNumericLiteral(options)) return Number(options.text);
  if (!ts.isObjectLiteralExpression(options)) return undefined;
  for (const property of options.properties)
    if (ts.isPropertyAssignment(property) && property.name.getText() === 'timeout')
      return boundOf(property.initializer);
  return undefined;
}

function readsPage(expression: ts.Expression): boolean {
  if (!ts.isCallExpression(expression) || !ts.isPropertyAccessExpression(expression.expression)) return false;
  return READS.has(expression.expression.name.text);
}

/** A short function that gives what it reads to somebody else: `async () => (await cells()).slice(1)`. */
function isGiven(node: ts.Node): boolean {
  return ts.isArrowFunction(node) && !ts.isBlock(node.body);
}
