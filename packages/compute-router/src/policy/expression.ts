import { PolicySyntaxError } from './policy-errors.js';

/** The operand of a check: a string, or a field of the target. */
export type Operand = { readonly text: string } | { readonly target: TargetField };
type TargetField = 'project_id' | 'user_id';

/** A parsed policy expression. */
export type Expression =
  | { readonly kind: 'everybody' }
  | { readonly kind: 'nobody' }
  | { readonly kind: 'not'; readonly of: Expression }
  | { readonly kind: 'and' | 'or'; readonly of: readonly Expression[] }
  | { readonly kind: 'check'; readonly check: CheckName; readonly operand: Operand };

/** The supported checks, with the operands that are allowed after the colon. */
const ALLOWED_OPERANDS = {
  role: 'text',
  rule: 'text',
  service_roles: 'text',
  is_admin: ['True', 'False'],
  system_scope: ['all'],
  project_id: 'textOrTarget',
  user_id: 'textOrTarget',
  project_domain_id: 'text',
  user_domain_id: 'text',
} as const;

export type CheckName = keyof typeof ALLOWED_OPERANDS;

const TARGET_FIELDS: ReadonlySet<string> = new Set<TargetField>(['project_id', 'user_id']);
/**
 * Maximum nesting depth of an expression. It prevents stack overflows and is far beyond the depth of real expressions.
 */
const MAX_DEPTH = 64;
const TOKEN_PATTERN =
  /\s*(?:([()])|([@!])(?=[\s()]|$)|(and|or|not)(?=[\s()]|$)|(\w+):(?:%\(([^()\s]*)\)s|([^\s()%]+))(?=[\s()]|$))/iy;

type Token =
  | { readonly kind: '(' | ')' | '@' | '!' | 'and' | 'or' | 'not' | 'end'; readonly column: number }
  | { readonly kind: 'check'; readonly column: number; readonly check: CheckName; readonly operand: Operand };

/**
 * Parses a policy expression: checks such as `role:admin`, `rule:name` and `project_id:%(project_id)s`, combined with
 * `and`, `or`, `not` and parentheses. `@` and the empty string allow every caller; `!` denies every caller. `not` has
 * the highest precedence, followed by `and`.
 *
 * @throws PolicySyntaxError with the column of the error
 */
export function parseExpression(text: string): Expression {
  const tokens = tokensOf(text).values();
  const end: Token = { kind: 'end', column: text.trimEnd().length + 1 };
  const read = (): Token => {
    const next = tokens.next();
    return next.done ? end : next.value;
  };
  let token = read();
  if (token === end) return { kind: 'everybody' };

  function nextToken(): Token {
    const current = token;
    token = read();
    return current;
  }

  function parseChain(kind: 'and' | 'or', part: (depth: number) => Expression, depth: number): Expression {
    const first = part(depth);
    const others: Expression[] = [];
    while (token.kind === kind) {
      nextToken();
      others.push(part(depth));
    }
    return others.length === 0 ? first : { kind, of: [first, ...others] };
  }

  const parseOr = (depth: number): Expression => parseChain('or', parseAnd, depth);
  const parseAnd = (depth: number): Expression => parseChain('and', parseUnary, depth);

  function parseUnary(depth: number): Expression {
    const first = nextToken();
    if (depth > MAX_DEPTH) throw new PolicySyntaxError(`more than ${MAX_DEPTH} nested levels`, text, first.column);
    switch (first.kind) {
      case '@':
        return { kind: 'everybody' };
      case '!':
        return { kind: 'nobody' };
      case 'not':
        return { kind: 'not', of: parseUnary(depth + 1) };
      case 'check':
        return { kind: 'check', check: first.check, operand: first.operand };
      case '(': {
        const inner = parseOr(depth + 1);
        const close = nextToken();
        if (close.kind !== ')') throw unexpectedToken(close, '"and", "or" or ")"');
        return inner;
      }
      default:
        throw unexpectedToken(first, 'a check such as role:admin, @, ! or (');
    }
  }

  function unexpectedToken(token: Token, expected: string): PolicySyntaxError {
    const actual = token.kind === 'end' ? 'the end' : token.kind === 'check' ? 'a second check' : `"${token.kind}"`;
    return new PolicySyntaxError(`expected ${expected}, not ${actual}`, text, token.column);
  }

  const expression = parseOr(0);
  if (token !== end) throw unexpectedToken(token, '"and", "or" or the end of the rule');
  return expression;
}

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  const end = text.trimEnd().length;
  let position = 0;
  while (position < end) {
    TOKEN_PATTERN.lastIndex = position;
    const match = TOKEN_PATTERN.exec(text);
    const rest = text.slice(position);
    const column = position + 1 + rest.length - rest.trimStart().length;
    if (!match)
      throw new PolicySyntaxError(
        'this is not a check (name:value), an operator (and, or, not), @, ! or a parenthesis',
        text,
        column,
      );
    const [, paren, sign, word = '', check, field, value = ''] = match;
    if (check !== undefined) tokens.push({ kind: 'check', column, ...checkOf(text, column, check, field, value) });
    else
      tokens.push({
        kind: (paren ?? sign ?? word.toLowerCase()) as '(' | ')' | '@' | '!' | 'and' | 'or' | 'not',
        column,
      });
    position = TOKEN_PATTERN.lastIndex;
  }
  return tokens;
}

function checkOf(text: string, column: number, check: string, field: string | undefined, value: string) {
  if (!Object.hasOwn(ALLOWED_OPERANDS, check)) {
    throw new PolicySyntaxError(
      `unknown check "${check}:" (known: ${Object.keys(ALLOWED_OPERANDS).join(', ')})`,
      text,
      column,
    );
  }
  const name = check as CheckName;
  const allowed = ALLOWED_OPERANDS[name];
  if (field !== undefined) {
    if (allowed !== 'textOrTarget')
      throw new PolicySyntaxError(`${check}: cannot be compared with a target`, text, column);
    if (!TARGET_FIELDS.has(field)) {
      throw new PolicySyntaxError(
        `unknown target field "${field}" (known: ${[...TARGET_FIELDS].join(', ')})`,
        text,
        column,
      );
    }
    return { check: name, operand: { target: field as TargetField } };
  }
  if (typeof allowed !== 'string' && !(allowed as readonly string[]).includes(value)) {
    throw new PolicySyntaxError(`${check}: must be ${allowed.join(' or ')}`, text, column);
  }
  return { check: name, operand: { text: value } };
}
