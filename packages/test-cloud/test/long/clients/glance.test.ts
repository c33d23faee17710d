import { afterAll } from 'vitest';
import { converse, ID } from './conversation.js';
import { sampleFile } from './sample-file.js';

const file = sampleFile();
afterAll(() => file.remove());

converse(
  'glance',
  [
    { run: 'image-list', expects: /cirros/, captures: { cirros: /\| (\S{36}) \| cirros/ } },
    {
      run: 'image-show $cirros',
      expects: [/\| size +\| 2048 /, /\| checksum +\| [0-9a-f]{32} /, /\| owner +\| [0-9a-f]{32} /],
    },
    {
      run: 'image-create --name mine --disk-format raw --container-format bare --property hw_disk_bus=virtio --file FILE',
      expects: [/\| status +\| active /, /\| hw_disk_bus +\| virtio /],
      captures: { image: ID },
    },
    { run: 'image-create --name wrong --disk-format nonsense --container-format bare', fails: /nonsense/ },
    {
      run: 'image-list --property-filter name=wrong',
      expects: /^\+[-+]+\+\n\| ID +\| Name +\|\n\+[-+]+\+\n\+[-+]+\+\n$/,
    },
    {
      run: 'image-update --name yours --property os_distro=tiny --remove-property hw_disk_bus $image',
      expects: [/\| name +\| yours /, /os_distro +\| tiny/],
    },
    { run: 'image-list --property-filter os_distro=tiny', expects: /yours/ },
    { run: 'image-list --sort name:asc --limit 1', expects: /cirros/ },
    { run: 'image-tag-update $image blue' },
    { run: 'image-list --tag blue', expects: /yours/ },
    { run: 'image-tag-delete $image blue' },
    { run: 'image-download --file FILE.copy $image' },
    { run: 'image-deactivate $image' },
    { run: 'image-reactivate $image' },
    {
      run: 'image-create --name staged --disk-format raw --container-format bare',
      expects: /queued/,
      captures: { staged: ID },
    },
    { run: 'image-stage --file FILE $staged' },
    { run: 'image-import --import-method glance-direct $staged', expects: /\| status +\| active / },
    { run: 'image-create --name shared --visibility shared', captures: { shared: ID } },
    { run: 'member-create $shared 0123456789abcdef0123456789abcdef', expects: /pending/ },
    { run: 'member-list --image-id $shared', expects: /0123456789abcdef/ },
    { run: 'member-delete $shared 0123456789abcdef0123456789abcdef' },
    { run: 'import-info', expects: /import-methods/ },
    { run: 'stores-info', expects: /embedded/ },
    { run: 'md-namespace-list' },
    { run: 'md-resource-type-list', expects: /OS::Nova::Flavor/ },
    { run: 'task-list' },
    { run: 'explain image', expects: /container_format/ },
    { run: 'image-show 00000000-0000-0000-0000-000000000000', fails: /No image found with ID|404/ },
    { run: 'image-delete $image $staged $shared' },
  ],
  { file: () => file.path },
);
