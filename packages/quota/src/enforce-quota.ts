import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { amountsOf, type EnforceQuotaOptions, type EnforceSettings, enforceSettings } from './enforce-options.js';
import { QuotaExceeded, QuotaStoreError } from './errors.js';
import type { Amounts } from './limits.js';
import type { ProjectQuotas } from './project-quotas.js';
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
 * Takes from the quota of a project before the handler runs; keeps it when the handler succeeds and gives it back
 * when it fails, throws, or the client goes away before there is an answer.
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
        if (res.destroyed && !res.writableEnded) return void release(settings, reservation, req);
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

/** Settles a reservation once there is an answer, or there will be none. @returns what to do when the handler throws */
function settleAfter<Req extends IncomingMessage>(
  settings: EnforceSettings<Req>,
  reservation: Reservation | undefined,
  req: Req,
  res: ServerResponse,
): () => void {
  if (!reservation) return () => undefined;
  reservations.set(req, reservation);
  const stopRenewing = keepAlive(reservation);
  let settled = false;
  const settle = (commit: boolean) => {
    if (settled) return;
    settled = true;
    if (commit) {
      commitPersistently(reservation)
        .catch((error) => settings.onError(error, req))
        .finally(stopRenewing);
    } else {
      stopRenewing();
      release(settings, reservation, req);
    }
  };
  afterAnswer(
    res,
    () => settle(settings.succeeded(res, req)),
    () => settle(false),
  );
  return () => settle(false);
}

/** Gives back once the handler succeeded. @returns what to do when the handler throws */
function giveBackAfter<Req extends IncomingMessage>(
  settings: EnforceSettings<Req>,
  project: string,
  amounts: Amounts,
  req: Req,
  res: ServerResponse,
): () => void {
  const { quota, fallback } = settings;
  const giveBack = async (to: ProjectQuotas) => to.giveBack(project, amounts);
  let failed = false;
  afterAnswer(
    res,
    () => {
      if (failed || !settings.succeeded(res, req)) return;
      giveBack(quota)
        .catch((error) => {
          if (typeof fallback === 'string') throw error;
          return giveBack(fallback);
        })
        .catch((error) => settings.onError(error, req));
    },
    () => undefined,
  );
  return () => {
    failed = true;
  };
}

/** Calls one of both once: an answer was given (whether or not the client still takes it), or the client left before. */
function afterAnswer(res: ServerResponse, answered: () => void, left: () => void): void {
  res.once('close', () => (res.writableEnded ? answered() : left()));
}

function release<Req extends IncomingMessage>(
  settings: EnforceSettings<Req>,
  reservation: Reservation | undefined,
  req: Req,
): void {
  reservation?.release().catch((error) => settings.onError(error, req));
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
  if (exceeded) settings.onExceeded(refusal as QuotaExceeded, req, res);
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
