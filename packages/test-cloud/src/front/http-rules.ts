import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '@apistrata/compute-engine';
import type { Tapped } from './body-tap.js';
import { type HttpEffect, type HttpRule, matchesRequest } from './http-rule.js';

interface ActiveRule {
  readonly rule: HttpRule;
  readonly handle: HttpRuleHandle;
  calls: number;
}

/** A rule of the wire that was given to a cloud. */
export interface HttpRuleHandle {
  /** The rule as it was given. */
  readonly rule: HttpRule;
  remove(): void;
  /** How many requests have matched. */
  readonly calls: number;
}

type Serve = () => void;

/** What an effect answers when nobody wrote a body. */
function scriptedFault(status: number): unknown {
  return { computeFault: { code: status, message: 'This answer was scripted by a rule of the test cloud.' } };
}

/** The effect of this call of the rule; undefined when the rule has no say in it. */
function effectOf({ rule, calls }: ActiveRule): HttpEffect | undefined {
  const turn = calls - (rule.fromCall ?? 1);
  if (turn < 0) return undefined;
  if (rule.sequence) return rule.sequence[turn];
  return turn < (rule.times ?? Number.POSITIVE_INFINITY) ? rule : undefined;
}

/** Rules of the wire, in the order they were added; the first that has something to say about a request wins. */
export class HttpRules {
  readonly #rules = new Set<ActiveRule>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(rule: HttpRule): HttpRuleHandle {
    const handle: HttpRuleHandle = {
      rule,
      remove: () => {
        this.#rules.delete(active);
      },
      get calls() {
        return active.calls;
      },
    };
    const active: ActiveRule = { rule, handle, calls: 0 };
    this.#rules.add(active);
    return handle;
  }

  /** The rules that hold, in the order they were added. */
  get list(): readonly HttpRuleHandle[] {
    return [...this.#rules].map(({ handle }) => handle);
  }

  clear(): void {
    this.#rules.clear();
  }

  /** Serves a request as the rules want it. */
  async handle(req: IncomingMessage, res: ServerResponse, tapped: Tapped, serve: Serve): Promise<void> {
    const effect = this.#rules.size > 0 ? await this.#effectFor(req, tapped) : undefined;
    if (!effect) return serve();
    if (effect.delayMs) await this.#clock.sleep(effect.delayMs);
    const answer = answerOf(effect);
    if (!answer) return serve();
    if (effect.apply) replaceAnswer(res, () => answer(res));
    else {
      req.resume();
      return answer(res);
    }
    serve();
  }

  async #effectFor(req: IncomingMessage, tapped: Tapped): Promise<HttpEffect | undefined> {
    if ([...this.#rules].some(({ rule }) => rule.match.body !== undefined)) await tapped.arrived;
    for (const active of this.#rules) {
      if (!matchesRequest(active.rule.match, req, tapped.requestBody)) continue;
      active.calls++;
      const effect = effectOf(active);
      if (effect) return effect;
    }
    return undefined;
  }
}

/** How an effect answers; undefined when it leaves that to the service. */
function answerOf({ status, body, headers, drop }: HttpEffect): ((res: ServerResponse) => void) | undefined {
  if (drop) return (res) => void res.destroy();
  if (status === undefined) return undefined;
  return (res) => {
    const text = JSON.stringify(body ?? scriptedFault(status));
    for (const name of res.getHeaderNames()) if (name.startsWith('content-')) res.removeHeader(name);
    res.statusCode = status;
    res.setHeader('Content-Type', 'application/json');
    for (const [name, value] of Object.entries(headers ?? {})) res.setHeader(name, value);
    res.end(status === 204 ? undefined : text);
  };
}

/** Swallows what the service answers; when it is done, `instead` answers. */
function replaceAnswer(res: ServerResponse, instead: () => void): void {
  const { end, write, writeHead } = res;
  res.writeHead = (() => res) as typeof res.writeHead;
  res.write = (() => true) as typeof res.write;
  res.end = (() => {
    Object.assign(res, { end, write, writeHead });
    instead();
    return res;
  }) as typeof res.end;
}
