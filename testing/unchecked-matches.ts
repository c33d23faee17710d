import ts from 'typescript';

/**
 * Returns the values in arguments of `toMatchObject()` that match any value, as `line: value`: an empty object, and a
 * regular expression, which is compared like an object without properties. Objects in arrays are not reported, because
 * the length of an array is compared.
 */
export function uncheckedMatchesIn(text: string): readonly string[] {
  if (!text.includes('toMatchObject')) return [];
  const source = ts.createSourceFile('test.ts', text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];

  function checkExpected(node: ts.Expression): void {
    if (ts.isArrayLiteralExpression(node))
      for (const element of node.elements) if (!isEmptyObject(element)) checkExpected(element);
    if (ts.isRegularExpressionLiteral(node) || isEmptyObject(node))
      found.push(`${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}: ${node.getText()}`);
    if (ts.isObjectLiteralExpression(node))
      for (const property of node.properties)
        if (ts.isPropertyAssignment(property)) checkExpected(property.initializer);
  }

  function visit(node: ts.Node): void {
    if (ts.isCallExpression(node) && isToMatchObject(node.expression)) node.arguments.forEach(checkExpected);
    ts.forEachChild(node, visit);
  }
  visit(source);
  return found;
}

function isEmptyObject(node: ts.Expression): boolean {
  return ts.isObjectLiteralExpression(node) && node.properties.length === 0;
}

function isToMatchObject(node: ts.Expression): boolean {
  return ts.isPropertyAccessExpression(node) && node.name.text === 'toMatchObject';
}
