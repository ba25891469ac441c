/** What must be there before anything else: the operator's namespace and the custom resource definitions. */
import { Chart } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { addManifests } from './manifests.ts';
import { restrictedNamespaceLabels } from './pod-security.ts';
import type { KubeObject } from './resource.ts';

export interface DefinitionsProps {
  /** Namespace that is made for the operator; only pods that satisfy PodSecurity `restricted` may run there. */
  readonly namespace: string;
  readonly customResourceDefinitions: readonly KubeObject[];
}

/** Applied first and waited for: the rest needs the namespace, and custom resources need their definitions. */
export class Definitions extends Chart {
  constructor(scope: Construct, id: string, props: DefinitionsProps) {
    super(scope, id);
    new k8s.KubeNamespace(this, 'namespace', {
      metadata: { name: props.namespace, labels: { ...restrictedNamespaceLabels } },
    });
    addManifests(this, props.customResourceDefinitions);
  }
}
