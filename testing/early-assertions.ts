import ts from 'typescript';

/** On a machine under load, shorter timeouts fail by chance. */
const MIN_MS = 30_000;
const WAITS = new Set(['vi.waitFor', 'vi.waitUntil', 'expect.poll', 'eventually']);
/** Functions with a default timeout of one second. */
const SHORT_TIMEOUT = new Set(['vi.waitFor', 'vi.waitUntil']);
/** Calls that read a page once, without waiting. */
const READS = new Set([
  ...['allInnerTexts', 'allTextContents', 'count', 'getAttribute', 'innerHTML', 'innerText', 'inputValue'],
  ...['isChecked', 'isDisabled', 'isEnabled', 'isVisible', 'textContent', 'title'],
]);

/** Returns the places in a test that assert on unfinished work or do not wait long enough for it, as `line: reason`. */
export function earlyAssertionsIn(text: string): readonly string[] {
  if (!/playwright-core|waitFor|waitUntil|poll|eventually/.test(text)) return [];
  const source = ts.createSourceFile('test.ts', text, ts.ScriptTarget.Latest, true);
  const usesBrowser = /from 'playwright-core'/.test(text);
  const found: string[] = [];
  const report = (node: ts.Node, reason: string) =>
    found.push(`${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}: ${reason}`);

  function visit(node: ts.Node, waited: boolean): void {
    let inside = waited;
    if (ts.isCallExpression(node) && WAITS.has(nameOf(node))) {
      const timeout = timeoutOf(node.arguments[1]);
      if (timeout === undefined ? SHORT_TIMEOUT.has(nameOf(node)) : timeout < MIN_MS)
        report(node, `${nameOf(node)} gives up after ${(timeout ?? 1000) / 1000} s`);
      inside = true;
    }
    if (usesBrowser && !waited && ts.isAwaitExpression(node) && readsPage(node.expression))
      report(node, 'a page is read once: expect.poll waits until it is as expected');
    // An arrow function with an expression body may be polled elsewhere, so awaits in it are not reported.
    ts.forEachChild(node, (child) => visit(child, inside || isInlineFunction(child)));
  }
  visit(source, false);
  return found;
}

/** `expect.poll`, with any line breaks. */
function nameOf({ expression }: ts.CallExpression): string {
  return expression.getText().replace(/\s/g, '');
}

/** Timeouts in milliseconds, if they are literals. */
function timeoutOf(options: ts.Expression | undefined): number | undefined {
  if (!options) return undefined;
  if (ts.isNumericLiteral(options)) return Number(options.text);
  if (!ts.isObjectLiteralExpression(options)) return undefined;
  for (const property of options.properties)
    if (ts.isPropertyAssignment(property) && property.name.getText() === 'timeout')
      return timeoutOf(property.initializer);
  return undefined;
}

function readsPage(expression: ts.Expression): boolean {
  if (!ts.isCallExpression(expression) || !ts.isPropertyAccessExpression(expression.expression)) return false;
  return READS.has(expression.expression.name.text);
}

/** A short function passed to another one: `async () => (await cells()).slice(1)`. */
function isInlineFunction(node: ts.Node): boolean {
  return ts.isArrowFunction(node) && !ts.isBlock(node.body);
}
