import { createHash } from 'node:crypto';

/** A subscriber that receives events over HTTP. */
export interface WebhookOptions {
  /**
   * The URL that receives a `POST` request for each event. A user name and password in the URL are sent in the header
   * `Authorization: Basic` instead.
   */
  readonly url: string;
  /** The key that signs requests: at least 24 characters. If it starts with `whsec_`, the rest is base64. */
  readonly secret: string;
  /**
   * The event types to send: at most 32 types, of at most 255 characters each. `*` matches any characters, as in
   * `instance.create.*`. Default: all types.
   */
  readonly types?: readonly string[];
  /** The timeout of a request in milliseconds. Default 10,000. */
  readonly timeoutMs?: number;
  /**
   * Number of attempts to send an event before it becomes a dead letter; at least 1. Attempts without a response, or
   * with the status 429 or 503, count only if the webhook accepted another event in the meantime. Default: 20 attempts,
   * spread over about an hour.
   */
  readonly attempts?: number;
  /**
   * The name under which the webhook's position in the event stream is stored. A webhook with a new name receives only
   * events that are stored from then on. Default: the host of the URL, and a digest of the URL without credentials; for
   * additional webhooks with the same URL, also their types.
   */
  readonly name?: string;
}

/** The target of a webhook's requests. */
export interface WebhookTarget {
  /** The URL without credentials. */
  readonly url: string;
  /** The value of the `Authorization` header; undefined if the URL contains no credentials. */
  readonly authorization: string | undefined;
  /** Host and port of the URL. Unlike the URL, they contain no secrets. */
  readonly host: string;
}

function decodeCredential(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new TypeError('createEngine(): the credentials in a webhook url must be percent-encoded');
  }
}

/** Parses the URL of a webhook. Its credentials become a header, because `fetch` does not accept them in a URL. */
export function parseWebhookTarget(text: string): WebhookTarget {
  const url = new URL(text);
  const credentials = [url.username, url.password].map(decodeCredential).join(':');
  url.username = '';
  url.password = '';
  const authorization = credentials === ':' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`;
  return { url: url.href, authorization, host: url.host };
}

/**
 * Returns the default name of a webhook. It contains only a digest of the URL, because paths and queries are often
 * secret.
 */
function defaultWebhookName(webhookUrl: string): string {
  const { host, url } = parseWebhookTarget(webhookUrl);
  return `${host} ${createHash('sha256').update(url).digest('hex').slice(0, 16)}`;
}

/** A webhook with the name under which its position is stored. */
export interface NamedWebhook extends WebhookOptions {
  readonly name: string;
  /** The name that earlier versions stored, which contains the URL; undefined if the options set a name. */
  readonly formerName: string | undefined;
}

/**
 * Returns the webhooks with their names, in the same order.
 * @throws TypeError if two webhooks have the same name
 */
export function nameWebhooks(webhooks: readonly WebhookOptions[]): readonly NamedWebhook[] {
  const names = new Set<string>();
  return webhooks.map((webhook) => {
    const { url, types = ['*'] } = webhook;
    const baseName = defaultWebhookName(url);
    const suffix = names.has(baseName) ? ` ${types.toSorted().join(',')}` : '';
    const name = webhook.name ?? `${baseName}${suffix}`;
    if (names.has(name))
      throw new TypeError(`createEngine(): two webhooks have the name ${JSON.stringify(name)}; set a name for each`);
    names.add(name);
    return { ...webhook, name, formerName: webhook.name === undefined ? `${url}${suffix}` : undefined };
  });
}
