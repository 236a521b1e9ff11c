/** A CustomResourceDefinition of Boats in example.com/v1, as YAML. `schema` is that of the objects, in one line. */
export const boatDefinition = (schema: string): string => `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: boats.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: boats, singular: boat, kind: Boat, listKind: BoatList }
  versions:
    - name: v1
      served: true
      storage: true
      subresources: { status: {} }
      schema: { openAPIV3Schema: ${schema} }
`;
