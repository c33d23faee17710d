import {
  checkLimits,
  type OwnLimits,
  type QuotaStore,
  type ReserveRequest,
  type StoredReservation,
} from '@apistrata/quota';

/** A service that stores one document with optimistic locking: a write fails if the document has changed since the read. */
export interface Documents {
  read(): Promise<{ text: string; version: number }>;
  /** Returns false, without writing, if the version is no longer current. */
  write(text: string, version: number): Promise<boolean>;
}

interface Project {
  used: Record<string, number>;
  reservations: Record<string, { amounts: Record<string, number>; expiresAt: number }>;
}

/** The whole store as one document. Lists of pairs instead of objects, so that no project id is a property name. */
interface State {
  projects: [string, Project][];
  limits: [string, Record<string, string>][];
}

export function documentStore(documents: Documents, clock: () => number = Date.now): QuotaStore {
  let lastStep: Promise<unknown> = Promise.resolve();

  /** Runs the steps of this process sequentially: concurrent ones would only invalidate each other's writes. */
  function step<T>(work: (state: State) => T): Promise<T> {
    const turn = lastStep.then(() => attempt(work));
    lastStep = turn.catch(() => undefined);
    return turn;
  }

  /** Runs one atomic step: read, work, write; repeats it if another process has written in the meantime. */
  async function attempt<T>(work: (state: State) => T): Promise<T> {
    for (;;) {
      const { text, version } = await documents.read();
      const state: State = text === '' ? { projects: [], limits: [] } : JSON.parse(text);
      for (const [, project] of state.projects) dropExpired(project);
      const result = work(state);
      if (await documents.write(JSON.stringify(state), version)) return result;
    }
  }

  function dropExpired(project: Project): void {
    for (const [id, reservation] of Object.entries(project.reservations))
      if (reservation.expiresAt <= clock()) delete project.reservations[id];
  }

  function projectOf(state: State, id: string): Project {
    const found = state.projects.find(([key]) => key === id);
    if (found) return found[1];
    const project: Project = { used: {}, reservations: {} };
    state.projects.push([id, project]);
    return project;
  }

  function reservedOf(project: Project, kind: string): number {
    return Object.values(project.reservations).reduce((sum, { amounts }) => sum + (amounts[kind] ?? 0), 0);
  }

  const limitsOf = (state: State, id: string): OwnLimits | undefined => {
    const own = state.limits.find(([key]) => key === id)?.[1];
    return own && Object.fromEntries(Object.entries(own).map(([kind, decimal]) => [kind, exact(decimal)]));
  };

  return {
    reserve: ({ id, project: projectId, amounts, defaults, ttlMs }: ReserveRequest) =>
      step((state) => {
        const project = projectOf(state, projectId);
        const kinds = Object.keys(amounts);
        const usage = kinds.map((kind) => [kind, (project.used[kind] ?? 0) + reservedOf(project, kind)]);
        const limits = { ...defaults, ...limitsOf(state, projectId) };
        const { exceeded } = checkLimits({ limits, usage: Object.fromEntries(usage), requested: amounts });
        if (exceeded.length > 0) return exceeded;
        project.reservations[id] = { amounts, expiresAt: clock() + ttlMs };
        return [];
      }),

    settle: ({ id, project: projectId, amounts }: StoredReservation, outcome) =>
      step((state) => {
        const project = projectOf(state, projectId);
        if (!project.reservations[id]) return false;
        delete project.reservations[id];
        if (outcome === 'release') return true;
        for (const kind of Object.keys(amounts)) project.used[kind] = (project.used[kind] ?? 0) + amounts[kind]!;
        return true;
      }),

    renew: ({ id, project }: StoredReservation, ttlMs) =>
      step((state) => {
        const reservation = projectOf(state, project).reservations[id];
        if (reservation) reservation.expiresAt = clock() + ttlMs;
        return reservation !== undefined;
      }),

    counts: (id) =>
      step((state) => {
        const project = projectOf(state, id);
        const reserved = Object.values(project.reservations).flatMap(({ amounts }) => Object.keys(amounts));
        const kinds = [...new Set([...Object.keys(project.used), ...reserved])];
        const counts = kinds.map((kind) => [
          kind,
          { used: project.used[kind] ?? 0, reserved: reservedOf(project, kind) },
        ]);
        return Object.fromEntries(counts);
      }),

    release: (id, amounts) =>
      step((state) => {
        const { used } = projectOf(state, id);
        for (const kind of Object.keys(amounts)) used[kind] = Math.max(0, (used[kind] ?? 0) - amounts[kind]!);
      }),

    recount: (id, kind, used) =>
      step((state) => {
        projectOf(state, id).used[kind] = used;
      }),

    getLimits: (id) => step((state) => limitsOf(state, id)),

    setLimits: (id, limits) =>
      step((state) => {
        const decimals = Object.fromEntries(Object.entries(limits).map(([kind, limit]) => [kind, String(limit)]));
        const entry = state.limits.find(([key]) => key === id);
        if (entry) entry[1] = decimals;
        else state.limits.push([id, decimals]);
      }),

    removeLimits: (id) =>
      step((state) => {
        const before = state.limits.length;
        state.limits = state.limits.filter(([key]) => key !== id);
        return state.limits.length < before;
      }),

    listLimits: ({ limit, offset }) =>
      step((state) => {
        const page = state.limits.slice(offset, offset + limit);
        const entries = page.map(([project]) => ({ project, limits: limitsOf(state, project)! }));
        return { entries, total: state.limits.length };
      }),

    sweep: () => step(() => undefined),
  };
}

/** Returns a number if that is exact, otherwise a bigint. */
function exact(decimal: string): number | bigint {
  return Number.isSafeInteger(Number(decimal)) ? Number(decimal) : BigInt(decimal);
}
