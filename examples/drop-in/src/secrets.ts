import { randomUUID } from 'node:crypto';

export interface Secret {
  readonly id: string;
  readonly name: string;
  /** ISO 8601. */
  readonly created: string;
}

/** The secrets of each project. The model is independent of quotas and API versions. */
export class Secrets {
  readonly #byProject = new Map<string, Map<string, Secret>>();

  add(project: string, name: string): Secret {
    const secret = { id: randomUUID(), name, created: new Date().toISOString() };
    this.#secretsOf(project).set(secret.id, secret);
    return secret;
  }

  list(project: string): Secret[] {
    return [...this.#secretsOf(project).values()];
  }

  find(project: string, id: string): Secret | undefined {
    return this.#secretsOf(project).get(id);
  }

  remove(project: string, id: string): boolean {
    return this.#secretsOf(project).delete(id);
  }

  #secretsOf(project: string): Map<string, Secret> {
    const existingSecrets = this.#byProject.get(project);
    if (existingSecrets) return existingSecrets;
    const secrets = new Map<string, Secret>();
    this.#byProject.set(project, secrets);
    return secrets;
  }
}
