import { relative } from 'node:path';
import ts from 'typescript';

type Scope = ts.FunctionLikeDeclaration & { readonly body: ts.Node };

/** Returns places with an unhandled promise: if it rejects at that moment, the process ends. */
export function unhandledPromises(root: string, files: readonly string[]): readonly string[] {
  const { config } = ts.readConfigFile(`${root}/tsconfig.base.json`, ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const program = ts.createProgram(files, { ...options, noEmit: true, composite: false });
  const checker = program.getTypeChecker();
  const found: string[] = [];

  function isPromise(node: ts.Node): boolean {
    const type = checker.getTypeAtLocation(node);
    return (type.isUnion() ? type.types : [type]).some((part) => part.getSymbol()?.name === 'Promise');
  }

  function report(node: ts.Node, what: string): void {
    const source = node.getSourceFile();
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    found.push(`${relative(root, source.fileName)}:${line + 1}: ${what}`);
  }

  /** A variable or parameter that is first used after another promise was awaited. */
  function checkName(declaration: ts.VariableDeclaration | ts.ParameterDeclaration, scope: Scope): void {
    if (!ts.isIdentifier(declaration.name) || !isPromise(declaration.name)) return;
    const symbol = checker.getSymbolAtLocation(declaration.name);
    const { text } = declaration.name;
    let use = Number.POSITIVE_INFINITY;
    each(scope.body, true, (node) => {
      const later = ts.isIdentifier(node) && node.text === text && node.pos >= declaration.end;
      if (later && checker.getSymbolAtLocation(node) === symbol) use = Math.min(use, node.getStart());
    });
    each(scope.body, false, (node) => {
      if (awaits(node) && node.getStart() >= declaration.end && node.end <= use) {
        report(declaration, `'${text}' is a promise without a handler while another one is awaited`);
        use = -1;
      }
    });
  }

  /** `f(g(), await h())`: the promise of `g()` has no handler until `h()` resolves. */
  function checkList(nodes: readonly ts.Node[]): void {
    const last = nodes.findLastIndex((node) => containsAwait(node));
    for (const node of nodes.slice(0, Math.max(last, 0))) {
      const value = ts.isPropertyAssignment(node) ? node.initializer : node;
      if (isPromise(value) && !ts.isAwaitExpression(value))
        report(node, 'a promise without a handler while a sibling is awaited');
    }
  }

  function checkStatement({ expression }: ts.ExpressionStatement): void {
    if (ts.isBinaryExpression(expression) || ts.isAwaitExpression(expression) || ts.isVoidExpression(expression))
      return;
    if (isPromise(expression) && !isHandled(expression)) report(expression, 'a promise without a handler');
  }

  function visit(node: ts.Node, scope: Scope | undefined): void {
    const inner = ts.isFunctionLike(node) && 'body' in node && node.body ? (node as unknown as Scope) : scope;
    const isName = ts.isVariableDeclaration(node) ? node.initializer !== undefined : ts.isParameter(node);
    if (isName && inner && isAsync(inner)) checkName(node as ts.VariableDeclaration, inner);
    if (ts.isCallExpression(node)) checkList(node.arguments);
    if (ts.isArrayLiteralExpression(node)) checkList(node.elements);
    if (ts.isObjectLiteralExpression(node)) checkList(node.properties);
    if (ts.isExpressionStatement(node)) checkStatement(node);
    ts.forEachChild(node, (child) => visit(child, inner));
  }

  for (const source of program.getSourceFiles()) if (files.includes(source.fileName)) visit(source, undefined);
  return found;
}

function isAsync(scope: Scope): boolean {
  return ts.getModifiers(scope as never)?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword) ?? false;
}

function awaits(node: ts.Node): boolean {
  return ts.isAwaitExpression(node) || (ts.isForOfStatement(node) && node.awaitModifier !== undefined);
}

/** Visits a node and its descendants, with or without nested functions. */
function each(node: ts.Node, includeFunctions: boolean, look: (node: ts.Node) => void): void {
  look(node);
  ts.forEachChild(node, (child) => {
    if (includeFunctions || !ts.isFunctionLike(child)) each(child, includeFunctions, look);
  });
}

function containsAwait(node: ts.Node): boolean {
  let contains = false;
  if (!ts.isFunctionLike(node))
    each(node, false, (inner) => {
      contains ||= awaits(inner);
    });
  return contains;
}

/** Matches `....catch(f)` and `....then(f, g)`, including those in chains of calls. */
function isHandled(node: ts.Node): boolean {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
  const { name, expression } = node.expression;
  if (name.text === 'catch' || (name.text === 'then' && node.arguments.length === 2)) return true;
  return isHandled(expression);
}
