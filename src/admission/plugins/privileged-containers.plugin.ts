import { ApiError } from '../../machinery/api-error.js';
import { fieldError, path } from '../../machinery/field-error.js';
import { asFields, asItems } from '../../machinery/fields.js';
import type { AdmissionPlugin } from '../admission-plugin.js';

const containerLists = ['initContainers', 'containers', 'ephemeralContainers'];

/** What --allow-privileged=false means. No plugin of the reference server, which has it among the rules of Pods. */
export const noPrivilegedContainers: AdmissionPlugin = {
  name: 'NoPrivilegedContainers',
  validate({ resource, subresource, object, operation, name }) {
    if (resource.group !== '' || resource.resource !== 'pods' || !object) return;
    // The only writes that bring containers; a Pod from before the flag may still be changed and end.
    if (`${operation} ${subresource}` !== 'CREATE ' && subresource !== 'ephemeralcontainers') return;
    const spec = asFields(object['spec']);
    const errors = containerLists.flatMap((list) =>
      asItems(spec[list]).flatMap((container, index) =>
        asFields(container['securityContext'])['privileged'] === true
          ? [
              fieldError.forbidden(
                String(path('spec').child(list).index(index).child('securityContext', 'privileged')),
                'disallowed by cluster policy',
              ),
            ]
          : [],
      ),
    );
    if (errors.length > 0) throw ApiError.invalid({ group: '', kind: 'Pod' }, name, errors);
  },
};
