/**
 * Types of the aggregation API, which no published Go package contains: written by hand in the format of
 * catalog-text.ts, after the public API documentation.
 */
export const aggregationKinds = `
apiregistration.v1 group=apiregistration. version=v1
 APIService apiservices cluster status introduced=1.10
 APIServiceList - introduced=1.10
`;

const text = `
APIService {
 ... meta.v1.TypeMeta 0
 metadata meta.v1.ObjectMeta 1 ?
 spec APIServiceSpec 2 ?
 status APIServiceStatus 3 ?
APIServiceCondition {
 type APIServiceConditionType 1
 status ConditionStatus 2
 lastTransitionTime time 3 ?
 reason string 4 ? optional
 message string 5 ? optional
APIServiceConditionType = string
APIServiceList {
 ... meta.v1.TypeMeta 0
 metadata meta.v1.ListMeta 1 ?
 items []APIService 2
APIServiceSpec {
 service *ServiceReference 1 ?
 group string 2 ?
 version string 3 ?
 insecureSkipTLSVerify bool 4 ?
 caBundle bytes 5 ? optional list=atomic
 groupPriorityMinimum int32 7
 versionPriority int32 8
APIServiceStatus {
 conditions []APIServiceCondition 1 ? optional list=map,type patch=merge key=type
ConditionStatus = string
ServiceReference {
 namespace string 1 ?
 name string 2 ?
 port *int32 3 ? optional
`;

export const aggregationPackage = {
  'apiregistration.v1': { path: 'k8s.io/kube-aggregator/pkg/apis/apiregistration/v1', text },
} as const;
