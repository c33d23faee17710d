import type { Clock } from '@apistrata/compute-engine';
import type { Documents } from '../service/documents.js';
import { DEFAULT_DOMAIN, Directory } from './directory.js';
import type { Token, User } from './identity-records.js';
import { Passwords } from './passwords.js';

/** The password of every user in a test cloud. */
export const DEMO_PASSWORD = 'secret';
/** The scrypt cost of password hashes. It is minimal, because the passwords of a test cloud are public. */
const MIN_HASH_COST = 2;
/** The latest expiry time that clients can parse, because they expect four-digit years. */
const LATEST_EXPIRY = Date.UTC(9999, 11, 31);
const DEMO_PROJECTS = ['admin', 'demo', 'alt_demo', 'service'];
/** The roles of each user, by user name and project name. */
const DEMO_USERS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  admin: { admin: ['admin'], demo: ['admin'], alt_demo: ['admin'] },
  demo: { demo: ['member', 'reader'] },
  alt_demo: { alt_demo: ['member', 'reader'] },
};

/** The directory of a test cloud. All users have the same password. Tests can issue tokens without authentication. */
export class DemoDirectory extends Directory {
  readonly #password: string;

  constructor(documents: Documents, clock: Clock) {
    const passwords = new Passwords(MIN_HASH_COST);
    super(documents, clock, passwords);
    this.#password = passwords.hashSync(DEMO_PASSWORD);
    this.seed();
  }

  override seed(): void {
    super.seed();
    for (const name of DEMO_PROJECTS) this.project(name);
    for (const [name, projects] of Object.entries(DEMO_USERS)) {
      const user = this.user(name);
      for (const [project, roles] of Object.entries(projects))
        for (const role of roles) this.grant(user, { kind: 'project', id: this.project(project).id }, role);
    }
    this.grant(this.user('admin'), { kind: 'system', id: 'all' }, 'admin');
    this.grant(this.user('admin'), { kind: 'domain', id: DEFAULT_DOMAIN }, 'admin');
  }

  override user(name: string, password = this.#password): User {
    return super.user(name, password);
  }

  /** A token issued without authentication has the roles that the test requested, even roles that the user lacks. */
  protected override roleIdsOfToken(token: Token): readonly string[] | undefined {
    return token.expiresAt === LATEST_EXPIRY ? token.roleIds : super.roleIdsOfToken(token);
  }

  /** Issues a token without authentication. The token does not expire. Creates a missing user or project. */
  issueLastingToken(user: string, project: string, roles: readonly string[]): string {
    return this.issueToken({
      userId: this.user(user).id,
      scope: { kind: 'project', id: this.project(project).id },
      roleIds: roles.map((role) => this.role(role).id),
      methods: ['password'],
      expiresAt: LATEST_EXPIRY,
    }).id;
  }
}
