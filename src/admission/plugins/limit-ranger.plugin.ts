import type { LimitRange } from '../../catalog/types/core.v1.js';
import { defineAdmissionPlugin, type AdmissionAttributes } from '../admission-plugin.js';
import { claimProblems, podProblems, setDefaults } from '../limits/limit-range.js';
import { isAbout, newPodOf, onlyPods } from '../matching.js';
import { forbid, joinReasons } from '../refusal.js';

const ranges = { group: '', resource: 'limitranges' };

/** Applies LimitRanges: sets default requests and limits of containers, refuses Pods and claims outside the bounds. */
export const limitRanger = defineAdmissionPlugin({
  name: 'LimitRanger',
  runs: 'by default',
  make({ objects, naming }) {
    const annotation = naming.label('limit-ranger');
    const rangesOf = (namespace: string): readonly LimitRange[] => objects.list(ranges, namespace);

    function check(attributes: AdmissionAttributes, problemsOf: typeof podProblems | typeof claimProblems): void {
      for (const range of rangesOf(attributes.namespace)) {
        const problems = problemsOf(attributes.object!, range);
        if (problems.length > 0) throw forbid(attributes, joinReasons(problems));
      }
    }

    return {
      resources: [...onlyPods, { group: '', resource: 'persistentvolumeclaims' }],
      actsOnUnchanged: ({ resource, subresource, namespace }) =>
        (resource.resource !== 'pods' || subresource === 'resize') && rangesOf(namespace).length > 0,
      admit(attributes) {
        const { object, namespace } = attributes;
        if (!isAbout(attributes, '', 'pods', ['CREATE']) || !object) return;
        const notes = rangesOf(namespace).flatMap((range) => setDefaults(object, range));
        if (notes.length === 0) return;
        (object.metadata.annotations ??= {})[annotation] = `LimitRanger plugin set: ${notes.join('; ')}`;
      },
      validate(attributes) {
        if (!attributes.object || attributes.object.metadata.deletionTimestamp !== undefined) return;
        if (isAbout(attributes, '', 'persistentvolumeclaims', ['CREATE', 'UPDATE'])) check(attributes, claimProblems);
        // Requests and limits of containers of an existing Pod change only through the resize subresource.
        else if (newPodOf(attributes) || isAbout(attributes, '', 'pods', ['UPDATE'], 'resize'))
          check(attributes, podProblems);
      },
    };
  },
});
