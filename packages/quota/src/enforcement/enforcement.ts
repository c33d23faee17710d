import type { IncomingMessage, ServerResponse } from 'node:http';
import { QuotaExceeded, QuotaStoreError } from '../errors.js';
import type { Amounts } from '../limits.js';
import type { Reservation } from '../reservation.js';
import { amountsOf, type EnforceQuotaOptions, type EnforceSettings, enforceSettings } from './enforce-options.js';
import type { Exchange } from './exchange.js';
import { type Rejection, rejectionOf, setUsageHeaders } from './rejection.js';
import { watchResponseEnd } from './response-end.js';
import { commitPersistently, startRenewing } from './settlement.js';

/**
 * The decision on a request: run its handler, send a rejection, or do nothing because the response has ended. If the
 * handler throws and the framework does not send an error response, the framework adapter must call `threw`.
 */
export type Admission = { readonly threw: () => void } | { readonly rejection: Rejection } | undefined;

const reservationsByRequest = new WeakMap<IncomingMessage, Reservation>();

/**
 * Returns the reservation that `enforceQuota()` made for a request, or undefined if there is none, for example because
 * the request was accepted while the store was unavailable. A handler that commits the reservation before it responds
 * makes sure that the resource is counted.
 *
 * @param req the `node:http` request: `request.raw` in Fastify, `ctx.req` in Koa, `c.env.incoming` in Hono
 */
export function reservationOf(req: IncomingMessage): Reservation | undefined {
  return reservationsByRequest.get(req);
}

/**
 * Creates the function that accepts or rejects requests and settles their reservations when the responses end. Its
 * promise rejects with errors that the application's error handlers should handle.
 *
 * @throws TypeError or InvalidQuota if an option is invalid
 */
export function enforcement<Req>(options: EnforceQuotaOptions<Req>): (exchange: Exchange<Req>) => Promise<Admission> {
  const settings = enforceSettings(options);

  return async function admit(exchange) {
    const { req, raw, res } = exchange;
    const direction = settings.direction ?? (raw.method === 'DELETE' ? 'release' : 'reserve');
    try {
      const project = await settings.project(req);
      const amounts = await amountsOf(settings, req);
      if (direction === 'release') return { threw: releaseAtEnd(settings, project, amounts, exchange) };
      const reservation = await reserve(settings, project, amounts, req);
      if (settings.rateLimitHeaders === 'always') await setUsageHeaders(settings, project, amounts, exchange);
      // If the client disconnected during the call to the store, the handler does not run.
      if (res.destroyed && !res.writableEnded) {
        await release(settings, reservation, req);
        return undefined;
      }
      return { threw: settleAtEnd(settings, reservation, exchange) };
    } catch (error) {
      if (!(error instanceof QuotaExceeded || error instanceof QuotaStoreError)) throw error;
      const rejection = rejectionOf(settings, error, exchange);
      return rejection && { rejection };
    }
  };
}

async function reserve<Req>(
  { quota, fallback, reserveOptions, onError }: EnforceSettings<Req>,
  project: string,
  amounts: Amounts,
  req: Req,
): Promise<Reservation | undefined> {
  try {
    return await quota.reserve(project, amounts, reserveOptions);
  } catch (error) {
    if (!(error instanceof QuotaStoreError)) throw error;
    onError(error, req);
    if (fallback === 'closed') throw error;
    return fallback === 'open' ? undefined : fallback.reserve(project, amounts, reserveOptions);
  }
}

/**
 * Settles a reservation when the handler ends the response: the response status decides whether it is committed or released.
 *
 * @returns the function to call when the handler throws
 */
function settleAtEnd<Req>(
  settings: EnforceSettings<Req>,
  reservation: Reservation | undefined,
  { req, raw, res }: Exchange<Req>,
): () => void {
  if (!reservation) return () => undefined;
  reservationsByRequest.set(raw, reservation);
  const stopRenewing = startRenewing(reservation);
  let settlement: Promise<void> | undefined;

  /** The response waits for the returned promise, because the client may use or delete the new resource immediately. */
  const settle = (commit: boolean): Promise<void> => {
    settlement ??= commit ? commitReservation() : releaseReservation();
    return settlement;
  };
  const commitReservation = (): Promise<void> => {
    const { attempted, done } = commitPersistently(reservation);
    done.catch((error) => settings.onError(error, req)).finally(stopRenewing);
    return attempted;
  };
  const releaseReservation = (): Promise<void> => {
    stopRenewing();
    return release(settings, reservation, req);
  };
  /** Renews the reservation once after a client disconnect. If the handler never ends the response, the reservation expires. */
  const renewOnce = () => {
    stopRenewing();
    if (!settlement && reservation.open) reservation.renew().catch(() => undefined);
  };

  watchResponseEnd(res, {
    // If the option `succeeded` throws, the resource may exist, so the reservation is committed.
    onEnd: () => settle(hasSucceeded(settings, req, res, true)),
    onDisconnect: renewOnce,
  });
  return () => void settle(false);
}

/**
 * Releases used quota if the handler succeeds, before the client receives the response.
 *
 * @returns the function to call when the handler throws
 */
function releaseAtEnd<Req>(
  settings: EnforceSettings<Req>,
  project: string,
  amounts: Amounts,
  { req, res }: Exchange<Req>,
): () => void {
  const { quota, fallback } = settings;
  let hasThrown = false;

  const release = async (): Promise<void> => {
    try {
      await quota.release(project, amounts);
    } catch (error) {
      if (typeof fallback === 'string') throw error;
      await fallback.release(project, amounts);
    }
  };
  watchResponseEnd(res, {
    onEnd: () => {
      if (hasThrown || !hasSucceeded(settings, req, res, false)) return undefined;
      return release().catch((error) => settings.onError(error, req));
    },
    onDisconnect: () => undefined,
  });
  return () => {
    hasThrown = true;
  };
}

/** Returns the result of the option `succeeded`, or `defaultResult` if that function throws. */
function hasSucceeded<Req>(
  settings: EnforceSettings<Req>,
  req: Req,
  res: ServerResponse,
  defaultResult: boolean,
): boolean {
  try {
    return settings.succeeded(res, req);
  } catch (error) {
    settings.onError(error, req);
    return defaultResult;
  }
}

async function release<Req>(
  settings: EnforceSettings<Req>,
  reservation: Reservation | undefined,
  req: Req,
): Promise<void> {
  await reservation?.release().catch((error) => settings.onError(error, req));
}
