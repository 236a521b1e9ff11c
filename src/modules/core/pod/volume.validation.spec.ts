import { expectPodErrors, notDnsLabel, pod, type PodRow } from '../../../../test/harness/pods.js';

it.each<PodRow>([
  ['volume without name', pod({ volumes: [{ emptyDir: {} }] }), ['spec.volumes[0].name: Required value']],
  [
    'volume with bad name',
    pod({ volumes: [{ name: 'V_' }] }),
    [`spec.volumes[0].name: Invalid value: "V_": ${notDnsLabel}`],
  ],
  [
    'duplicate volumes',
    pod({ volumes: [{ name: 'v' }, { name: 'v' }] }),
    ['spec.volumes[1].name: Duplicate value: "v"'],
  ],
  [
    'volume with two sources',
    pod({ volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/' } }] }),
    ['spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type'],
  ],
  [
    'hostPath with ..',
    pod({ volumes: [{ name: 'v', hostPath: { path: '/a/../b' } }] }),
    ['spec.volumes[0].hostPath.path: Invalid value: "/a/../b": must not contain \'..\''],
  ],
  [
    'hostPath without path',
    pod({ volumes: [{ name: 'v', hostPath: {} }] }),
    ['spec.volumes[0].hostPath.path: Required value'],
  ],
  [
    'hostPath with bad type',
    pod({ volumes: [{ name: 'v', hostPath: { path: '/', type: 'X' } }] }),
    [
      'spec.volumes[0].hostPath.type: Unsupported value: "X": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
    ],
  ],
  [
    'secret without name',
    pod({ volumes: [{ name: 'v', secret: {} }] }),
    ['spec.volumes[0].secret.secretName: Required value'],
  ],
  [
    'secret with bad defaultMode',
    pod({ volumes: [{ name: 'v', secret: { secretName: 's', defaultMode: 512 } }] }),
    [
      'spec.volumes[0].secret.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive',
    ],
  ],
  [
    'configMap without name',
    pod({ volumes: [{ name: 'v', configMap: {} }] }),
    ['spec.volumes[0].configMap.name: Required value'],
  ],
  [
    'configMap item without path',
    pod({ volumes: [{ name: 'v', configMap: { name: 'c', items: [{ key: 'k' }] } }] }),
    ['spec.volumes[0].configMap.items[0].path: Required value'],
  ],
  [
    'configMap item with absolute path',
    pod({ volumes: [{ name: 'v', configMap: { name: 'c', items: [{ key: 'k', path: '/x' }] } }] }),
    ['spec.volumes[0].configMap.items[0].path: Invalid value: "/x": must be a relative path'],
  ],
  [
    'configMap item path with ..',
    pod({ volumes: [{ name: 'v', configMap: { name: 'c', items: [{ key: 'k', path: '..' }] } }] }),
    [
      'spec.volumes[0].configMap.items[0].path: Invalid value: "..": must not contain \'..\'',
      'spec.volumes[0].configMap.items[0].path: Invalid value: "..": must not start with \'..\'',
    ],
  ],
  [
    'emptyDir with negative sizeLimit',
    pod({ volumes: [{ name: 'v', emptyDir: { sizeLimit: '-1' } }] }),
    ['spec.volumes[0].emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity'],
  ],
  [
    'nfs without server',
    pod({ volumes: [{ name: 'v', nfs: { path: '/x' } }] }),
    ['spec.volumes[0].nfs.server: Required value'],
  ],
  [
    'nfs with relative path',
    pod({ volumes: [{ name: 'v', nfs: { server: 's', path: 'x' } }] }),
    ['spec.volumes[0].nfs.path: Invalid value: "x": must be an absolute path'],
  ],
  [
    'iscsi with bad iqn',
    pod({ volumes: [{ name: 'v', iscsi: { targetPortal: 'x', iqn: 'foo', lun: 0 } }] }),
    ['spec.volumes[0].iscsi.iqn: Invalid value: "foo": must be valid format starting with iqn, eui, or naa'],
  ],
  [
    'iscsi with lun out of range',
    pod({ volumes: [{ name: 'v', iscsi: { targetPortal: 'x', iqn: 'iqn.2015-02.example.com:t', lun: 256 } }] }),
    ['spec.volumes[0].iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive'],
  ],
  [
    'persistentVolumeClaim without claimName',
    pod({ volumes: [{ name: 'v', persistentVolumeClaim: {} }] }),
    ['spec.volumes[0].persistentVolumeClaim.claimName: Required value'],
  ],
  [
    'downwardAPI with unsupported field',
    pod({
      volumes: [{ name: 'v', downwardAPI: { items: [{ path: 'x', fieldRef: { fieldPath: 'spec.nodeName' } }] } }],
    }),
    [
      'spec.volumes[0].downwardAPI.fieldRef.fieldPath: Unsupported value: "spec.nodeName": supported values: "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"',
    ],
  ],
  [
    'downwardAPI item without reference',
    pod({ volumes: [{ name: 'v', downwardAPI: { items: [{ path: 'x' }] } }] }),
    ['spec.volumes[0].downwardAPI: Required value: one of fieldRef and resourceFieldRef is required'],
  ],
  [
    'projected sources with one path',
    pod({
      volumes: [
        {
          name: 'v',
          projected: {
            sources: [
              { configMap: { name: 'a', items: [{ key: 'k', path: 'p' }] } },
              { secret: { name: 'b', items: [{ key: 'k', path: 'p' }] } },
            ],
          },
        },
      ],
    }),
    ['spec.volumes[0].projected: Invalid value: "b": conflicting duplicate paths'],
  ],
  [
    'projected token that expires too soon',
    pod({
      volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 60 } }] } }],
    }),
    [
      'spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes',
    ],
  ],
  ['csi without driver', pod({ volumes: [{ name: 'v', csi: {} }] }), ['spec.volumes[0].csi.driver: Required value']],
  [
    'gitRepo without repository',
    pod({ volumes: [{ name: 'v', gitRepo: {} }] }),
    ['spec.volumes[0].gitRepo.repository: Required value'],
  ],
  [
    'glusterfs without path',
    pod({ volumes: [{ name: 'v', glusterfs: { endpoints: 'e' } }] }),
    ['spec.volumes[0].glusterfs.path: Required value'],
  ],
  [
    'ephemeral volume without claim template',
    pod({ volumes: [{ name: 'v', ephemeral: {} }] }),
    ['spec.volumes[0].ephemeral.volumeClaimTemplate: Required value'],
  ],
  [
    'ephemeral volume with metadata that a claim template may not have',
    pod({
      volumes: [
        {
          name: 'v',
          ephemeral: {
            volumeClaimTemplate: {
              metadata: { labels: { a: '!' }, name: 'n', creationTimestamp: null, deletionGracePeriodSeconds: 0 },
              spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } } },
            },
          },
        },
      ],
    }),
    [
      expect.stringContaining(
        'spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.labels: Invalid value: "!"',
      ) as string,
      'spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set',
      'spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.deletionGracePeriodSeconds: Forbidden: cannot be set',
    ],
  ],
  [
    'rbd without monitors',
    pod({ volumes: [{ name: 'v', rbd: { image: 'i' } }] }),
    ['spec.volumes[0].rbd.monitors: Required value'],
  ],
  [
    'fc without targets',
    pod({ volumes: [{ name: 'v', fc: {} }] }),
    ['spec.volumes[0].fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both'],
  ],
  [
    'azureFile without secret',
    pod({ volumes: [{ name: 'v', azureFile: { shareName: 's' } }] }),
    ['spec.volumes[0].azureFile.secretName: Required value'],
  ],
  [
    'image without reference',
    pod({ volumes: [{ name: 'v', image: {} }] }),
    ['spec.volumes[0].image.reference: Required value'],
  ],
])('Pod with %s is rejected', (_name, object, errors) => expectPodErrors(object, errors));

it.each<PodRow>([
  [
    'two projected tokens at one path',
    pod({
      volumes: [
        {
          name: 'v',
          projected: { sources: [{ serviceAccountToken: { path: 't' } }, { serviceAccountToken: { path: 't' } }] },
        },
      ],
    }),
    [],
  ],
])('Pod with %s is accepted', (_name, object, errors) => expectPodErrors(object, errors));
