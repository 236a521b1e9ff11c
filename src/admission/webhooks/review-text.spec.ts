import { attributesOf, kubernetes as naming, type WriteGiven } from '../../../test/harness/admission.js';
import { servedAs } from '../../../test/harness/policies.js';
import { decodeJson, stringifyJson } from '../../codec/json.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { ObjectReader } from '../object-reader.js';
import { admissionRequest } from '../request/admission-request.js';
import { MatchedRequest } from '../request/matched-request.js';
import { formOf } from '../request/request-form.js';
import { ReviewTexts } from './review-text.js';

const served = servedAs('apps', 'v1', 'deployments', 'Deployment');
const otherForm = formOf(servedAs('extensions', 'v1beta1', 'deployments', 'Deployment'), '');
const apiVersion = 'admission.k8s.io/v1';

function requestOf(given: WriteGiven): MatchedRequest {
  const attributes = attributesOf({ of: 'apps/deployments', ...given });
  return new MatchedRequest({ ...attributes, served }, {} as ObjectReader, () => []);
}

const objectOf = (name: string, fields: object = {}): KubeObject => ({
  kind: 'Deployment',
  apiVersion: 'apps/v1',
  metadata: { name },
  ...fields,
});

const strange = '"\\\u2028\n\u0000\ud800é👩‍💻</script>';
const old = objectOf('p');

it.each<[string, WriteGiven]>([
  ['a create', { object: old }],
  ['an update', { object: old, old }],
  ['a delete', { operation: 'DELETE', old }],
  ['a connection', { operation: 'CONNECT', object: old, of: 'apps/deployments/proxy' }],
  ['a subresource', { object: old, old, of: 'apps/deployments/status' }],
  ['a dry run', { object: old, dryRun: true }],
  ['a cluster-scoped object without a name', { object: objectOf(''), name: '', clusterWide: true }],
  [
    'a user with strange characters',
    {
      object: old,
      user: { name: strange, uid: strange, groups: [strange], extra: { [strange]: [strange], ['__proto__']: ['a'] } },
    },
  ],
  ['strange names', { object: objectOf(strange), name: strange }],
])('the review of %s has the fields of the AdmissionRequest in their order', (_title, given) => {
  const request = requestOf(given);
  const { object = null, old: oldObject = null } = request.attributes;
  for (const form of [request.requested, otherForm]) {
    const { options, dryRun, ...fields } = admissionRequest(request, form, 'meta.k8s.io');
    const want = { uid: 'u', ...fields, object, oldObject, dryRun, options };
    const text = new ReviewTexts(request, naming).review({ uid: 'u', apiVersion, form, object, oldObject });
    expect(text).toBe(stringifyJson({ kind: 'AdmissionReview', apiVersion, request: want }));
  }
});

it('each review has the state of the object that it is given', () => {
  const reviews = new ReviewTexts(requestOf({ object: old }), naming);
  const form = formOf(served, '');
  const reviewed = (object: KubeObject | null, oldObject: KubeObject | null) =>
    decodeJson(reviews.review({ uid: 'u', apiVersion, form, object, oldObject }));
  const states = [objectOf('a'), objectOf('b'), null, objectOf('a', { spec: { replicas: 2n ** 62n } })];
  for (const object of states) {
    for (const oldObject of states)
      expect(reviewed(object, oldObject)).toMatchObject({ request: { object, oldObject } });
  }
});
