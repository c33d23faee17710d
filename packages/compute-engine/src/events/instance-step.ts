import type { Fault, FlavorCopy, Server } from '../model/index.js';
import { flavorPayload, type Initiator, instanceFields } from './instance-payload.js';
import { type NotificationObject, notificationObject } from './notification.js';

/** A step of an action, with the name that the original uses. */
export interface InstanceStep {
  /** For example `create` or `resize_prep`. */
  readonly name: string;
  /** Undefined for notifications that the original sends without a phase. */
  readonly phase?: 'start' | 'end' | 'error';
  /** The server at that time. */
  readonly server: Server;
  /** The reason of a failure. */
  readonly fault?: Fault;
}

/** Arguments of actions that are part of some notifications. */
interface StepArguments {
  readonly imageId?: string | null;
  readonly volumeId?: string;
  readonly oldVolumeId?: string;
  readonly newVolumeId?: string;
  readonly shareId?: string;
  readonly flavor?: FlavorCopy;
}

interface StepForm {
  readonly object: string;
  readonly version: string;
  readonly more?: (server: Server, args: StepArguments) => Readonly<Record<string, unknown>>;
}

const plain: StepForm = { object: 'InstanceActionPayload', version: '1.9' };

const certificates = ({ trustedCerts }: Server) => ({ trusted_image_certificates: trustedCerts });
const rebuilt: StepForm = { object: 'InstanceActionRebuildPayload', version: '1.10', more: certificates };
const volumeForm: StepForm = {
  object: 'InstanceActionVolumePayload',
  version: '1.7',
  more: (_server, { volumeId }) => ({ volume_id: volumeId }),
};
const shareForm: StepForm = {
  object: 'InstanceActionSharePayload',
  version: '1.0',
  more: (_server, { shareId }) => ({ share_id: shareId }),
};

/** Steps with additional payload fields. */
const forms: Readonly<Record<string, StepForm>> = {
  create: {
    object: 'InstanceCreatePayload',
    version: '1.13',
    more: (server) => ({ keypairs: [], tags: server.tags, ...certificates(server) }),
  },
  rebuild: rebuilt,
  rebuild_scheduled: rebuilt,
  rescue: {
    object: 'InstanceActionRescuePayload',
    version: '1.4',
    more: (_server, { imageId }) => ({ rescue_image_ref: imageId || null }),
  },
  resize_prep: {
    object: 'InstanceActionResizePrepPayload',
    version: '1.4',
    more: (_server, { flavor }) => ({ new_flavor: flavor ? flavorPayload(flavor) : null }),
  },
  snapshot: {
    object: 'InstanceActionSnapshotPayload',
    version: '1.10',
    more: (_server, { imageId }) => ({ snapshot_image_id: imageId }),
  },
  volume_attach: volumeForm,
  volume_detach: volumeForm,
  volume_swap: {
    object: 'InstanceActionVolumeSwapPayload',
    version: '1.9',
    more: (_server, { oldVolumeId, newVolumeId }) => ({ old_volume_id: oldVolumeId, new_volume_id: newVolumeId }),
  },
  share_attach: shareForm,
  share_detach: shareForm,
};

function exceptionOf({ message, details }: Fault): NotificationObject {
  return notificationObject('ExceptionPayload', '1.1', {
    exception: /^(\w+)(?::|$)/.exec(details)?.[1] ?? 'Error',
    exception_message: message,
    module_name: null,
    function_name: null,
    traceback: details,
  });
}

/**
 * Formats the payload of a step.
 *
 * @param args arguments of the action
 */
export function stepPayload(step: InstanceStep, initiator: Initiator, args: unknown): NotificationObject {
  const { name, server, fault } = step;
  const { object, version, more } = (Object.hasOwn(forms, name) && forms[name]) || plain;
  return notificationObject(object, version, {
    ...instanceFields(server, initiator),
    fault: fault ? exceptionOf(fault) : null,
    ...more?.(server, (args ?? {}) as StepArguments),
  });
}
