/** What happens in an engine, told to others: its form, and what webhooks are signed with. */
export type { EngineEvents, EventListener, EventOptions } from './engine-events.js';
export type { Notification, NotificationObject } from './notification.js';
export type { ToldEvent } from './outbox.js';
export { wantedTypes } from './wanted-types.js';
export { signatureOf, type WebhookOptions } from './webhook.js';
