import type { NamingProfile } from '../../config/naming-profile.js';
import { apiVersionOf } from '../../machinery/gvk.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { autoupdateAnnotation, flowcontrolBootObjects } from '../../modules/flowcontrol/boot-objects.js';
import { flowcontrolVersion } from '../../modules/flowcontrol/flowcontrol.resources.js';
import { mandatoryFlowSchemas, mandatoryPriorityLevels } from '../../modules/flowcontrol/mandatory-objects.js';
import type { BootObject } from './ensure-object.js';

/**
 * The initial PriorityLevelConfigurations and FlowSchemas. Mandatory ones are always restored; the others only if their
 * autoupdate annotation is not `false`.
 */
export function flowcontrolObjects(naming: NamingProfile): BootObject[] {
  const { group, version } = flowcontrolVersion(naming);
  const annotation = autoupdateAnnotation(naming);
  const { flowSchemas, priorityLevels } = flowcontrolBootObjects(naming);
  const isLeftAlone = ({ metadata }: KubeObject) => metadata.annotations?.[annotation] === 'false';
  const boot = (resource: string, kind: string, name: string, spec: object, isMandatory: boolean): BootObject => ({
    group,
    version,
    resource,
    keeps: ['spec'],
    fieldManager: 'api-priority-and-fairness-config-producer-v1',
    ...(!isMandatory && { isLeftAlone }),
    object: {
      kind,
      apiVersion: apiVersionOf(group, version),
      metadata: { name, annotations: { [annotation]: 'true' } },
      spec,
    },
  });
  return [
    ...Object.entries(priorityLevels).map(([name, spec]) => ({
      ...boot(
        'prioritylevelconfigurations',
        'PriorityLevelConfiguration',
        name,
        spec,
        Object.hasOwn(mandatoryPriorityLevels, name),
      ),
      // Operators may set the shares of this mandatory level.
      ...(name === 'exempt' && { keeps: [] }),
    })),
    ...Object.entries(flowSchemas).map(([name, spec]) =>
      boot('flowschemas', 'FlowSchema', name, spec, Object.hasOwn(mandatoryFlowSchemas, name)),
    ),
  ];
}
