/** Notifications of an engine, and webhook signatures. */
export type { DeadLetter, DeadLetters } from './dead-letters.js';
export type { EngineEvents, EventListener, EventOptions } from './engine-events.js';
export type { Notification, NotificationObject } from './notification.js';
export type { StoredEvent } from './outbox.js';
export { subscribedTypes } from './subscribed-types.js';
export { signatureOf } from './webhook.js';
export type { WebhookOptions } from './webhook-options.js';
