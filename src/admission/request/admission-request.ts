import type { AdmissionOperation } from '../admission-plugin.js';
import type { MatchedRequest } from './matched-request.js';
import type { RequestForm } from './request-form.js';

const optionsKinds: Readonly<Record<AdmissionOperation, string>> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
  CONNECT: '',
};

/**
 * Returns the variable `request`: the AdmissionRequest without uid, object and oldObject. Empty texts, lists and maps are
 * absent, as in its JSON.
 */
export function admissionRequest(request: MatchedRequest, form: RequestForm, metaGroup: string) {
  const { attributes, namespace, requested } = request;
  const { name, subresource, operation } = attributes;
  const { user, dryRun } = attributes.request;
  const optionsKind = optionsKinds[operation];
  return {
    kind: form.kind,
    resource: form.resource,
    ...(subresource !== '' && { subResource: subresource }),
    requestKind: requested.kind,
    requestResource: requested.resource,
    ...(subresource !== '' && { requestSubResource: subresource }),
    ...(name !== '' && { name }),
    ...(namespace !== '' && { namespace }),
    operation,
    userInfo: {
      ...(user.name !== '' && { username: user.name }),
      ...(user.uid !== '' && { uid: user.uid }),
      ...(user.groups.length > 0 && { groups: user.groups }),
      ...(Object.keys(user.extra).length > 0 && { extra: user.extra }),
    },
    dryRun,
    options:
      optionsKind === ''
        ? null
        : { kind: optionsKind, apiVersion: `${metaGroup}/v1`, ...(dryRun && { dryRun: ['All'] }) },
  };
}
