import { expectPodErrors, pod, type PodRow, podWithContainer } from '../../../../test/harness/pods.js';

it.each<PodRow>([
  [
    'bad os',
    pod({ os: { name: 'plan9' } }),
    ['spec.os: Unsupported value: "plan9": supported values: "linux", "windows"'],
  ],
  [
    'Linux fields for Windows',
    pod({ os: { name: 'windows' }, hostPID: true }),
    ['spec.hostPID: Forbidden: cannot be set for a windows pod'],
  ],
  [
    'hostPID and shareProcessNamespace',
    pod({ hostPID: true, shareProcessNamespace: true }),
    [
      'spec.securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled',
    ],
  ],
  [
    'hostUsers false with hostNetwork',
    pod({ hostUsers: false, hostNetwork: true }),
    ['spec.hostNetwork: Forbidden: when `hostUsers` is false'],
  ],
  [
    'negative runAsUser',
    pod({ securityContext: { runAsUser: -1 } }),
    ['spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive'],
  ],
  [
    'negative fsGroup',
    pod({ securityContext: { fsGroup: -1 } }),
    ['spec.securityContext.fsGroup: Invalid value: -1: must be between 0 and 2147483647, inclusive'],
  ],
  [
    'negative supplementalGroups',
    pod({ securityContext: { supplementalGroups: [-1] } }),
    ['spec.securityContext.supplementalGroups[0]: Invalid value: -1: must be between 0 and 2147483647, inclusive'],
  ],
  [
    'bad sysctl',
    pod({ securityContext: { sysctls: [{ name: 'a_%' }] } }),
    [
      'spec.securityContext.sysctls[0].name: Invalid value: "a_%": must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$',
    ],
  ],
  [
    'duplicate sysctl',
    pod({
      securityContext: {
        sysctls: [
          { name: 'kernel.msgmax', value: '1' },
          { name: 'kernel.msgmax', value: '1' },
        ],
      },
    }),
    ['spec.securityContext.sysctls[1].name: Duplicate value: "kernel.msgmax"'],
  ],
  [
    'bad seccomp type',
    pod({ securityContext: { seccompProfile: { type: 'X' } } }),
    [
      'spec.securityContext.seccompProfile.type: Unsupported value: "X": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
    ],
  ],
  [
    'seccomp type Localhost without localhostProfile',
    pod({ securityContext: { seccompProfile: { type: 'Localhost' } } }),
    [
      'spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost',
    ],
  ],
  [
    'seccomp type RuntimeDefault with localhostProfile',
    pod({ securityContext: { seccompProfile: { type: 'RuntimeDefault', localhostProfile: 'x' } } }),
    [
      'spec.securityContext.seccompProfile.localhostProfile: Invalid value: {"Type":"RuntimeDefault","LocalhostProfile":"x"}: can only be set when seccomp type is Localhost',
    ],
  ],
  [
    'bad fsGroupChangePolicy',
    pod({ securityContext: { fsGroupChangePolicy: 'X' } }),
    ['spec.securityContext.fsGroupChangePolicy: Unsupported value: "X": supported values: "Always", "OnRootMismatch"'],
  ],
  [
    'bad AppArmor type',
    pod({ securityContext: { appArmorProfile: { type: 'X' } } }),
    [
      'spec.securityContext.appArmorProfile.type: Unsupported value: "X": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
    ],
  ],
  [
    'privileged and allowPrivilegeEscalation false',
    podWithContainer({ securityContext: { privileged: true, allowPrivilegeEscalation: false } }),
    [
      'spec.containers[0].securityContext: Invalid value: {"Capabilities":null,"Privileged":true,"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
    ],
  ],
  [
    'CAP_SYS_ADMIN and allowPrivilegeEscalation false',
    podWithContainer({
      securityContext: { capabilities: { add: ['CAP_SYS_ADMIN'] }, allowPrivilegeEscalation: false },
    }),
    [
      'spec.containers[0].securityContext: Invalid value: {"Capabilities":{"Add":["CAP_SYS_ADMIN"],"Drop":null},"Privileged":null,"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}: cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN',
    ],
  ],
  [
    'bad procMount',
    podWithContainer({ securityContext: { procMount: 'X' } }),
    ['spec.containers[0].securityContext.procMount: Unsupported value: "X": supported values: "Default", "Unmasked"'],
  ],
])('Pod with %s is rejected', (_name, object, errors) => expectPodErrors(object, errors));
