import { createHash } from 'node:crypto';

/** A subscriber that receives events over HTTP. */
export interface WebhookOptions {
  /**
   * The URL to which each event is sent as a `POST`. A user name and a password in it are sent as `Authorization: Basic`
   * instead.
   */
  readonly url: string;
  /** The key that signs requests: at least 24 characters; after `whsec_`, base64. */
  readonly secret: string;
  /** At most 32 types of at most 255 characters; `*` matches any characters: `instance.create.*`. Default: all types. */
  readonly types?: readonly string[];
  /** The timeout of a request in milliseconds. Default 10,000. */
  readonly timeoutMs?: number;
  /**
   * Number of times an event is sent before it becomes a dead letter, at least 1. Attempts that the receiver rejects with 429
   * or 503 do not count, nor do attempts without a response, unless another event was accepted at the same time. Default 20,
   * which takes about an hour.
   */
  readonly attempts?: number;
  /**
   * The key of the webhook's position among the events: a webhook with a new name receives only later events. Default: the
   * host and a digest of its URL without credentials; additional webhooks with the same URL also have their types.
   */
  readonly name?: string;
}

/** The target of a webhook's requests. */
export interface WebhookTarget {
  /** Without credentials. */
  readonly url: string;
  /** The value of the `Authorization` header; undefined without credentials in the URL. */
  readonly authorization: string | undefined;
  /** Host and port, which unlike the URL contain no secrets. */
  readonly host: string;
}

function decodeText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new TypeError('createEngine(): the credentials in the url of a webhook must be percent-encoded');
  }
}

/** Parses a URL. Its credentials become a header, because `fetch` does not accept them in a URL. */
export function webhookTarget(text: string): WebhookTarget {
  const url = new URL(text);
  const credentials = [url.username, url.password].map(decodeText).join(':');
  url.username = '';
  url.password = '';
  const authorization = credentials === ':' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`;
  return { url: url.href, authorization, host: url.host };
}

/** Returns the default name of a webhook. It contains a digest of the URL, because paths and queries are often secrets. */
function defaultName(given: string): string {
  const { host, url } = webhookTarget(given);
  return `${host} ${createHash('sha256').update(url).digest('hex').slice(0, 16)}`;
}

/** A webhook with the key of its position. */
export interface NamedWebhook extends WebhookOptions {
  readonly name: string;
  /** The key of earlier versions, which stored the URL in the table; undefined if the webhook has its own name. */
  readonly formerName: string | undefined;
}

/** Returns webhooks with their names, in their order. @throws TypeError if two webhooks have the same name */
export function namedWebhooks(webhooks: readonly WebhookOptions[]): readonly NamedWebhook[] {
  const names = new Set<string>();
  return webhooks.map((webhook) => {
    const { url, types = ['*'] } = webhook;
    const plain = defaultName(url);
    const suffix = names.has(plain) ? ` ${types.toSorted().join(',')}` : '';
    const name = webhook.name ?? `${plain}${suffix}`;
    if (names.has(name))
      throw new TypeError(`createEngine(): two webhooks have the name ${JSON.stringify(name)}; set a name for each`);
    names.add(name);
    return { ...webhook, name, formerName: webhook.name === undefined ? `${url}${suffix}` : undefined };
  });
}
