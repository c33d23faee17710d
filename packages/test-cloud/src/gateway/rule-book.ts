import type { Rule, RuleHandle, SimulatedDriver } from '@apistrata/compute-engine/drivers';
import type { HttpRule } from './http-rule.js';
import type { HttpRuleHandle, HttpRules } from './http-rules.js';

/** An active rule with its number. */
export type ListedRule = ListedMachineRule | ListedHttpRule;

interface ListedMachineRule {
  readonly id: string;
  readonly kind: 'machine';
  readonly handle: RuleHandle;
}

interface ListedHttpRule {
  readonly id: string;
  readonly kind: 'http';
  readonly handle: HttpRuleHandle;
}

/** A cloud's rules, whether they were added by a program, over `/_control`, on the page or by the preset. */
export class RuleBook {
  readonly #http: HttpRules;
  readonly #driver: () => SimulatedDriver;
  readonly #ids = new WeakMap<object, number>();
  #lastId = 0;

  /** @param driver returns the current driver, which a reset replaces */
  constructor(http: HttpRules, driver: () => SimulatedDriver) {
    this.#http = http;
    this.#driver = driver;
  }

  http(rule: HttpRule): ListedHttpRule {
    return { kind: 'http', ...this.#addNumbered(() => this.#http.add(rule)) };
  }

  machine(rule: Rule): ListedMachineRule {
    return { kind: 'machine', ...this.#addNumbered(() => this.#driver().addRule(rule)) };
  }

  /** Returns the active rules in the order in which they were added. */
  list(): readonly ListedRule[] {
    const machine = this.#driver().rules.map((handle) => ({ kind: 'machine', handle }) as const);
    const http = this.#http.list.map((handle) => ({ kind: 'http', handle }) as const);
    return [...machine, ...http]
      .map((rule) => ({ ...rule, id: this.#idOf(rule.handle) }))
      .sort((a, b) => a.id - b.id)
      .map((rule) => ({ ...rule, id: String(rule.id) }));
  }

  /** Removes all rules, and resumes the machine steps that hang. */
  clear(): void {
    this.#driver().clearRules();
    this.#http.clear();
  }

  /** Adds a rule with the next number. The preset's rules are numbered first. */
  #addNumbered<H extends object>(add: () => H): { readonly id: string; readonly handle: H } {
    this.list();
    const handle = add();
    return { id: String(this.#idOf(handle)), handle };
  }

  #idOf(handle: object): number {
    const id = this.#ids.get(handle) ?? ++this.#lastId;
    this.#ids.set(handle, id);
    return id;
  }
}
