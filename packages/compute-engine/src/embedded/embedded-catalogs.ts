import type { Clock } from '../clock.js';
import type { VolumeStorage } from '../drivers/volume-storage.js';
import type { Preset } from '../preset/preset.js';
import type { Store } from '../store/store.js';
import { embeddedImages } from './images/embedded-images.js';
import { embeddedNetworks } from './networks/embedded-networks.js';
import { embeddedShares } from './shares/embedded-shares.js';
import { embeddedVolumes } from './volumes/embedded-volumes.js';

export interface EmbeddedCatalogsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly unknown?: Preset['unknown'];
  /** Where the content of images is kept; left out: in the database. */
  readonly imageDirectory?: string;
  /** Told of a server whose ports were changed through the network service itself. */
  readonly onServerPortsChanged?: (serverId: string) => void;
  /** Told of a server one of whose volumes has grown. */
  readonly onVolumeExtended?: (serverId: string, volumeId: string) => void;
  /** Where the content of volumes is, once it is known. */
  readonly volumeStorage?: () => VolumeStorage | undefined;
}

/** All four catalogs in the engine's own database. */
export function embeddedCatalogs(options: EmbeddedCatalogsOptions) {
  const {
    store,
    clock,
    unknown = {},
    imageDirectory,
    onServerPortsChanged,
    onVolumeExtended,
    volumeStorage: storage,
  } = options;
  const images = embeddedImages({ store, clock, unknown: unknown.images, directory: imageDirectory });
  return {
    images,
    networks: embeddedNetworks({ store, clock, unknown: unknown.networks, onServerPortsChanged }),
    volumes: embeddedVolumes({ store, clock, unknown: unknown.volumes, images, onVolumeExtended, storage }),
    shares: embeddedShares({ store, clock, unknown: unknown.shares }),
  };
}

/** The catalogs in the database of an engine, with all that their own services need beside what servers do. */
export type EmbeddedCatalogs = ReturnType<typeof embeddedCatalogs>;
