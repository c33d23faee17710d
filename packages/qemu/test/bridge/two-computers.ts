import { Computer } from './computer.js';

const ADDRESSES = { h1: '192.0.2.1', h2: '192.0.2.2' } as const;
export type ComputerName = keyof typeof ADDRESSES;

/** Two simulated computers, connected by a cable. The network device at each end is called `wire`. */
export class TwoComputers {
  readonly addresses = ADDRESSES;
  readonly h1: Computer;
  readonly h2: Computer;

  private constructor(h1: Computer, h2: Computer) {
    this.h1 = h1;
    this.h2 = h2;
  }

  static async open(): Promise<TwoComputers> {
    const computers = new TwoComputers(...(await Promise.all([Computer.open(), Computer.open()])));
    const { h1, h2 } = computers;
    h1.inside('ip', ...'link add wire type veth peer name wire netns'.split(' '), `${h2.pid}`);
    for (const name of ['h1', 'h2'] as const) {
      computers[name].inside('ip', 'address', 'add', `${ADDRESSES[name]}/24`, 'dev', 'wire');
      computers[name].inside('ip', 'link', 'set', 'wire', 'up');
    }
    return computers;
  }

  close(): void {
    for (const computer of [this.h1, this.h2]) computer.close();
  }
}
