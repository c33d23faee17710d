import type { Fault, FlavorCopy, Server } from '../model/index.js';
import { flavorPayload, type Initiator, instanceFields } from './instance-payload.js';
import { type NotificationObject, notificationObject } from './notification.js';

/** A step of an action, with the name that Nova uses. */
export interface InstanceStep {
  /** The name of the step, such as `create` or `resize_prep`. */
  readonly name: string;
  /** The phase of the step; undefined for notifications that Nova sends without a phase. */
  readonly phase?: 'start' | 'end' | 'error';
  /** The server at the time of the step. */
  readonly server: Server;
  /** The fault, if the step failed. */
  readonly fault?: Fault;
}

/** Action arguments that some notifications contain. */
interface StepArguments {
  readonly imageId?: string | null;
  readonly volumeId?: string;
  readonly oldVolumeId?: string;
  readonly newVolumeId?: string;
  readonly shareId?: string;
  readonly flavor?: FlavorCopy;
}

/** The object name and version of a notification payload, and its additional fields. */
interface PayloadType {
  readonly object: string;
  readonly version: string;
  readonly extraFields?: (server: Server, args: StepArguments) => Readonly<Record<string, unknown>>;
}

const defaultPayloadType: PayloadType = { object: 'InstanceActionPayload', version: '1.9' };

const certificateFields = ({ trustedCerts }: Server) => ({ trusted_image_certificates: trustedCerts });
const rebuildPayloadType: PayloadType = {
  object: 'InstanceActionRebuildPayload',
  version: '1.10',
  extraFields: certificateFields,
};
const volumePayloadType: PayloadType = {
  object: 'InstanceActionVolumePayload',
  version: '1.7',
  extraFields: (_server, { volumeId }) => ({ volume_id: volumeId }),
};
const sharePayloadType: PayloadType = {
  object: 'InstanceActionSharePayload',
  version: '1.0',
  extraFields: (_server, { shareId }) => ({ share_id: shareId }),
};

/** Payload types with additional fields, by step name. */
const payloadTypes: Readonly<Record<string, PayloadType>> = {
  create: {
    object: 'InstanceCreatePayload',
    version: '1.13',
    extraFields: (server) => ({ keypairs: [], tags: server.tags, ...certificateFields(server) }),
  },
  rebuild: rebuildPayloadType,
  rebuild_scheduled: rebuildPayloadType,
  rescue: {
    object: 'InstanceActionRescuePayload',
    version: '1.4',
    extraFields: (_server, { imageId }) => ({ rescue_image_ref: imageId || null }),
  },
  resize_prep: {
    object: 'InstanceActionResizePrepPayload',
    version: '1.4',
    extraFields: (_server, { flavor }) => ({ new_flavor: flavor ? flavorPayload(flavor) : null }),
  },
  snapshot: {
    object: 'InstanceActionSnapshotPayload',
    version: '1.10',
    extraFields: (_server, { imageId }) => ({ snapshot_image_id: imageId }),
  },
  volume_attach: volumePayloadType,
  volume_detach: volumePayloadType,
  volume_swap: {
    object: 'InstanceActionVolumeSwapPayload',
    version: '1.9',
    extraFields: (_server, { oldVolumeId, newVolumeId }) => ({
      old_volume_id: oldVolumeId,
      new_volume_id: newVolumeId,
    }),
  },
  share_attach: sharePayloadType,
  share_detach: sharePayloadType,
};

function exceptionPayload({ message, details }: Fault): NotificationObject {
  return notificationObject('ExceptionPayload', '1.1', {
    exception: /^(\w+)(?::|$)/.exec(details)?.[1] ?? 'Error',
    exception_message: message,
    module_name: null,
    function_name: null,
    traceback: details,
  });
}

/**
 * Formats the notification payload of a step.
 *
 * @param args the action's arguments
 */
export function stepPayload(step: InstanceStep, initiator: Initiator, args: unknown): NotificationObject {
  const { name, server, fault } = step;
  const { object, version, extraFields } =
    (Object.hasOwn(payloadTypes, name) && payloadTypes[name]) || defaultPayloadType;
  return notificationObject(object, version, {
    ...instanceFields(server, initiator),
    fault: fault ? exceptionPayload(fault) : null,
    ...extraFields?.(server, (args ?? {}) as StepArguments),
  });
}
