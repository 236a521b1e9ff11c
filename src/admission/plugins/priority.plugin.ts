import type { Pod, PodSpec } from '../../catalog/types/core.v1.js';
import type { PriorityClass } from '../../catalog/types/scheduling.v1.js';
import type { Mutable } from '../../machinery/mutable.js';
import { defineAdmissionPlugin, type AdmissionAttributes, type AdmissionHooks } from '../admission-plugin.js';
import { changeableSpecOf, isAbout, onlyPods, writtenPodOf } from '../matching.js';
import { find } from '../object-reader.js';
import type { PluginDependencies } from '../plugin-dependencies.js';
import { forbid } from '../refusal.js';

interface Priority {
  readonly className: string;
  readonly value: number;
  readonly preemptionPolicy: string;
}

const ordinary: Priority = { className: '', value: 0, preemptionPolicy: 'PreemptLowerPriority' };

/** Sets the priority of new Pods from their PriorityClass, or from the default class; refuses a second default class. */
export const priority = defineAdmissionPlugin({ name: 'Priority', runs: 'by default', make: makePriority });

function makePriority({ objects, naming }: PluginDependencies): AdmissionHooks {
  const group = naming.group('scheduling');
  const classes = { group, resource: 'priorityclasses' };

  /** The default class; the one with the lowest value if concurrent writes have made several. */
  function defaultClass(): PriorityClass | undefined {
    const all: readonly PriorityClass[] = objects.list(classes, '');
    return all.filter(({ globalDefault }) => globalDefault).sort((a, b) => (a.value ?? 0) - (b.value ?? 0))[0];
  }

  async function priorityOf(attributes: AdmissionAttributes, name: string): Promise<Priority> {
    if (name === '') {
      const found = defaultClass();
      return found ? priorityIn(found) : ordinary;
    }
    const found = await find(objects, classes, '', name, attributes.request.signal);
    if (!found) throw forbid(attributes, `no PriorityClass with name ${name} was found`);
    return priorityIn(found);
  }

  return {
    resources: [...onlyPods, classes],
    actsOnUnchanged: ({ resource }) => resource.group === group,
    async admit(attributes) {
      const pod = writtenPodOf(attributes);
      if (!pod) return;
      const spec = changeableSpecOf(pod);
      if (attributes.operation === 'UPDATE') {
        const old: Pod | undefined = attributes.old;
        keepPriority(spec, old?.spec ?? {});
        return;
      }
      const computed = await priorityOf(attributes, spec.priorityClassName ?? '');
      const problem = submittedProblem(spec, computed);
      if (problem !== undefined) throw forbid(attributes, problem);
      const { className, value, preemptionPolicy } = computed;
      if (className !== '') spec.priorityClassName = className;
      spec.priority = value;
      spec.preemptionPolicy = preemptionPolicy;
    },
    validate(attributes) {
      if (!isAbout(attributes, group, 'priorityclasses', ['CREATE', 'UPDATE'])) return;
      const submitted: PriorityClass | undefined = attributes.object;
      if (!submitted?.globalDefault) return;
      const found = defaultClass();
      const isUpdate = attributes.operation === 'UPDATE';
      if (!found || (isUpdate && found.metadata.name === submitted.metadata.name)) return;
      throw forbid(
        attributes,
        `PriorityClass ${found.metadata.name} is already marked as default. Only one default can exist`,
      );
    },
  };
}

function priorityIn({ metadata, value = 0, preemptionPolicy }: PriorityClass): Priority {
  return { className: metadata.name ?? '', value, preemptionPolicy: preemptionPolicy || ordinary.preemptionPolicy };
}

/** Clients that do not know these immutable fields leave them out. */
function keepPriority(spec: Mutable<PodSpec>, { priority, preemptionPolicy }: PodSpec): void {
  if (priority !== undefined) spec.priority ??= priority;
  if (preemptionPolicy !== undefined) spec.preemptionPolicy ??= preemptionPolicy;
}

/** Returns the error if a client has set another priority than the one of the PriorityClass. */
function submittedProblem({ priority, preemptionPolicy }: PodSpec, computed: Priority): string | undefined {
  if (priority !== undefined && priority !== computed.value) {
    return refusalOf('integer value of priority', priority, computed.value);
  }
  if (preemptionPolicy !== undefined && preemptionPolicy !== computed.preemptionPolicy) {
    return refusalOf('string value of PreemptionPolicy', preemptionPolicy, computed.preemptionPolicy);
  }
  return undefined;
}

function refusalOf(what: string, submitted: string | number, computed: string | number): string {
  return `the ${what} (${submitted}) must not be provided in pod spec; priority admission controller computed ${computed} from the given PriorityClass name`;
}
