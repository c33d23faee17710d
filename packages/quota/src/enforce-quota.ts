import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { watchAnswerEnd } from './answer-end.js';
import { amountsOf, type EnforceQuotaOptions, type EnforceSettings, enforceSettings } from './enforce-options.js';
import { QuotaExceeded, QuotaStoreError } from './errors.js';
import type { Amounts } from './limits.js';
import type { Reservation } from './reservation.js';
import { commitPersistently, keepAlive } from './settlement.js';

/** Works as Express 4 and 5 middleware, and in bare `node:http` with the handler as `next`. */
export type EnforceQuotaMiddleware<Req extends IncomingMessage = IncomingMessage> = (
  req: Req,
  res: ServerResponse,
  next: (error?: unknown) => unknown,
) => Promise<void>;

const reservations = new WeakMap<IncomingMessage, Reservation>();

/**
 * The reservation that `enforceQuota()` made for a request; undefined where there is none (also where it let pass
 * because the store is down). A handler that commits it itself, before it answers, leaves no moment in which the
 * thing exists and is not counted.
 */
export function reservationOf(req: IncomingMessage): Reservation | undefined {
  return reservations.get(req);
}

/**
 * Takes from the quota of a project before the handler runs; keeps it when the handler succeeds and gives it back when
 * it fails or throws. A client that goes away changes nothing of that: the handler may go on and make the thing, so the
 * status counts with which it ends its answer. A handler that never ends it holds what it took for the time-to-live.
 *
 * An answer ends once the store has heard of it: what is given back is free, and what is made is counted, before the
 * client can build on it.
 *
 * @throws TypeError or InvalidQuota for options that cannot work, when it is made
 */
export function enforceQuota<Req extends IncomingMessage = IncomingMessage>(
  options: EnforceQuotaOptions<Req>,
): EnforceQuotaMiddleware<Req> {
  const settings = enforceSettings(options);

  return async function enforceQuotaMiddleware(req, res, next) {
    const direction = settings.direction ?? (req.method === 'DELETE' ? 'give-back' : 'take');
    let handlerThrew: () => void;
    try {
      const project = await settings.project(req);
      const amounts = await amountsOf(settings, req);
      if (direction === 'give-back') {
        handlerThrew = giveBackAfter(settings, project, amounts, req, res);
      } else {
        const reservation = await reserve(settings, project, amounts, req);
        // The client left while the store was asked: nobody waits for what the handler would make.
        if (res.destroyed && !res.writableEnded) return await release(settings, reservation, req);
        handlerThrew = settleAfter(settings, reservation, req, res);
      }
    } catch (error) {
      if (error instanceof QuotaExceeded || error instanceof QuotaStoreError) refuse(settings, error, req, res, next);
      else next(error);
      return;
    }
    try {
      await next();
    } catch (error) {
      // In bare node:http this goes to the caller; Express catches what its handlers throw and answers.
      handlerThrew();
      throw error;
    }
  };
}

async function reserve<Req extends IncomingMessage>(
  settings: EnforceSettings<Req>,
  project: string,
  amounts: Amounts,
  req: Req,
): Promise<Reservation | undefined> {
  const { quota, fallback, reserveOptions, onError } = settings;
  try {
    return await quota.reserve(project, amounts, reserveOptions);
  } catch (error) {
    if (!(error instanceof QuotaStoreError)) throw error;
    onError(error, req);
    if (fallback === 'closed') throw error;
    return fallback === 'open' ? undefined : fallback.reserve(project, amounts, reserveOptions);
  }
}

/** Settles a reservation by the status of the answer, once the handler ends it. @returns for a handler that throws */
function settleAfter<Req extends IncomingMessage>(
  settings: EnforceSettings<Req>,
  reservation: Reservation | undefined,
  req: Req,
  res: ServerResponse,
): () => void {
  if (!reservation) return () => undefined;
  reservations.set(req, reservation);
  const stopRenewing = keepAlive(reservation);
  let settlement: Promise<void> | undefined;

  /** @returns what the answer waits for: whoever has it may build on it, and delete at once what was made */
  const settle = (commit: boolean): Promise<void> => {
    settlement ??= commit ? keep() : giveUp();
    return settlement;
  };
  const keep = (): Promise<void> => {
    const { attempted, done } = commitPersistently(reservation);
    done.catch((error) => settings.onError(error, req)).finally(stopRenewing);
    return attempted;
  };
  const giveUp = (): Promise<void> => {
    stopRenewing();
    return release(settings, reservation, req);
  };
  /** A handler that nobody waits for may end its answer, or never: the time-to-live decides, from now on. */
  const letRunOut = () => {
    stopRenewing();
    if (!settlement && reservation.open) reservation.renew().catch(() => undefined);
  };

  watchAnswerEnd(res, {
    // Unless it is known that nothing was made, it counts.
    ended: () => settle(hasSucceeded(settings, req, res, true)),
    left: letRunOut,
  });
  return () => void settle(false);
}

/** Gives back by the status of the answer, and before the client has it. @returns for a handler that throws */
function giveBackAfter<Req extends IncomingMessage>(
  settings: EnforceSettings<Req>,
  project: string,
  amounts: Amounts,
  req: Req,
  res: ServerResponse,
): () => void {
  const { quota, fallback } = settings;
  let failed = false;

  const giveBack = async (): Promise<void> => {
    try {
      await quota.giveBack(project, amounts);
    } catch (error) {
      if (typeof fallback === 'string') throw error;
      await fallback.giveBack(project, amounts);
    }
  };
  watchAnswerEnd(res, {
    ended: () => {
      if (failed || !hasSucceeded(settings, req, res, false)) return undefined;
      return giveBack().catch((error) => settings.onError(error, req));
    },
    left: () => undefined,
  });
  return () => {
    failed = true;
  };
}

/** What the option says of the answer; where it throws, the careful guess. */
function hasSucceeded<Req extends IncomingMessage>(
  settings: EnforceSettings<Req>,
  req: Req,
  res: ServerResponse,
  careful: boolean,
): boolean {
  try {
    return settings.succeeded(res, req);
  } catch (error) {
    settings.onError(error, req);
    return careful;
  }
}

async function release<Req extends IncomingMessage>(
  settings: EnforceSettings<Req>,
  reservation: Reservation | undefined,
  req: Req,
): Promise<void> {
  await reservation?.release().catch((error) => settings.onError(error, req));
}

function refuse<Req extends IncomingMessage>(
  settings: EnforceSettings<Req>,
  error: QuotaExceeded | QuotaStoreError,
  req: Req,
  res: ServerResponse,
  next: (error?: unknown) => unknown,
): void {
  const exceeded = error instanceof QuotaExceeded;
  const refusal = exceeded ? new QuotaExceeded(error.details, settings.status) : error;
  try {
    if (exceeded) settings.onExceeded(refusal as QuotaExceeded, req, res);
  } catch (thrown) {
    next(thrown);
    return;
  }
  if (res.headersSent) return;
  if (settings.failWith === 'next') {
    next(refusal);
    return;
  }
  const reason = exceeded ? 'Creation not allowed because a quota has been reached.' : 'Quotas cannot be checked now.';
  const description = `${settings.operation} issue seen - ${reason}`;
  const title = STATUS_CODES[refusal.status];
  const body = JSON.stringify({ code: refusal.status, title, description });
  res.statusCode = refusal.status;
  res.setHeader('Content-Type', 'application/json');
  res.setHeader('Content-Length', Buffer.byteLength(body));
  res.end(body);
}
