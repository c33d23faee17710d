// Writes an image as an OCI layout in a tar archive, which also contains the index for Docker versions before 25.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { tarOf } from './tar.mjs';

const MEDIA_TYPE = 'application/vnd.oci.image';
const digestOf = (content) => `sha256:${createHash('sha256').update(content).digest('hex')}`;
const json = (value) => Buffer.from(JSON.stringify(value));
const pathOf = (digest) => `blobs/${digest.replace(':', '/')}`;

/**
 * Returns the tar archive.
 * @param image.layers the layers, from bottom to top, each with a name for the image history and its tar entries
 * @param image.config the configuration of containers that run the image
 * @param image.architecture the architecture, as Go names it: `amd64` or `arm64`
 * @param image.reference the image's name and tag, such as `test-cloud:1.0.0`
 * @param image.created the creation time, in ISO 8601
 */
export function ociLayout({ layers, config, architecture, reference, created }) {
  const blobs = new Map();
  const blobOf = (mediaType, content) => {
    const digest = digestOf(content);
    blobs.set(digest, content);
    return { mediaType, digest, size: content.length };
  };
  const archives = layers.map(({ entries }) => tarOf(entries));
  const layerBlobs = archives.map((archive) => blobOf(`${MEDIA_TYPE}.layer.v1.tar+gzip`, gzipSync(archive)));
  const configBlob = blobOf(
    `${MEDIA_TYPE}.config.v1+json`,
    json({
      created,
      architecture,
      os: 'linux',
      config,
      rootfs: { type: 'layers', diff_ids: archives.map(digestOf) },
      history: layers.map(({ name }) => ({ created, created_by: name })),
    }),
  );
  const mediaType = `${MEDIA_TYPE}.manifest.v1+json`;
  const manifest = blobOf(mediaType, json({ schemaVersion: 2, mediaType, config: configBlob, layers: layerBlobs }));
  const annotations = {
    'io.containerd.image.name': `docker.io/library/${reference}`,
    'org.opencontainers.image.ref.name': reference.split(':')[1],
  };
  const index = {
    schemaVersion: 2,
    mediaType: `${MEDIA_TYPE}.index.v1+json`,
    manifests: [{ ...manifest, platform: { architecture, os: 'linux' }, annotations }],
  };
  const dockerManifest = [
    {
      Config: pathOf(configBlob.digest),
      RepoTags: [reference],
      Layers: layerBlobs.map(({ digest }) => pathOf(digest)),
    },
  ];
  const file = (path, content) => ({ path, type: 'file', mode: 0o644, content });
  const folder = (path) => ({ path, type: 'folder', mode: 0o755 });
  return tarOf([
    folder('blobs'),
    folder('blobs/sha256'),
    ...Array.from(blobs, ([digest, content]) => file(pathOf(digest), content)),
    file('index.json', json(index)),
    file('manifest.json', json(dockerManifest)),
    file('oci-layout', json({ imageLayoutVersion: '1.0.0' })),
  ]);
}
