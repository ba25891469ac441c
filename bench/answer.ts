/** Whether what stands on the server is what was asked for. A leg whose answer is wrong has no figures. */
import type { KubeObject } from '../charts/resource.ts';

/** All objects of these types in the namespace of a leg. */
export interface Answer {
  readonly servers: readonly KubeObject[];
  readonly deployments: readonly KubeObject[];
  readonly services: readonly KubeObject[];
}

/** Every way in which the answer is wrong, in a sentence each; none when it is right. Written by hand, from the kind's documentation. */
export function problemsOf({ servers, deployments, services }: Answer, n: number): readonly string[] {
  const [deploymentOf, serviceOf] = [byName(deployments), byName(services)];
  const counts = Object.entries({ WebServers: servers, Deployments: deployments, Services: services })
    .filter(([, objects]) => objects.length !== n)
    .map(([what, objects]) => `${objects.length} ${what} where there should be ${n}`);
  const each = servers.flatMap((server) => {
    const { name } = server.metadata;
    return [
      ...problemsOfStatus(server),
      ...problemsOfChild(server, 'Deployment', deploymentOf.get(name), runsNginx),
      ...problemsOfChild(server, 'Service', serviceOf.get(name), offersPort80),
    ].map((problem) => `WebServer ${name}: ${problem}`);
  });
  return [...counts, ...each];
}

const byName = (objects: readonly KubeObject[]): ReadonlyMap<string, KubeObject> =>
  new Map(objects.map((object) => [object.metadata.name, object]));

interface ServerStatus {
  readonly observedGeneration?: number;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

function problemsOfStatus({ metadata, status }: KubeObject): readonly string[] {
  const { observedGeneration, conditions = [] } = (status ?? {}) as ServerStatus;
  const problems: string[] = [];
  if (observedGeneration !== metadata.generation)
    problems.push(
      `observedGeneration is ${observedGeneration ?? 'absent'}, generation ${metadata.generation ?? 'absent'}`,
    );
  // No controller runs that could make pods: what says otherwise judged something that it did not see.
  if (conditions.find(({ type }) => type === 'Available')?.status !== 'False') problems.push('Available is not False');
  return problems;
}

function problemsOfChild(
  { metadata }: KubeObject,
  kind: string,
  child: KubeObject | undefined,
  isRight: (child: KubeObject) => boolean,
): readonly string[] {
  if (child === undefined) return [`there is no ${kind} of its name`];
  const owners = child.metadata.ownerReferences ?? [];
  const isOwned = owners.length === 1 && owners[0]?.controller === true && owners[0].uid === metadata.uid;
  return [
    ...(isOwned ? [] : [`its ${kind} is not owned by it`]),
    ...(isRight(child) ? [] : [`its ${kind} is not what was asked for`]),
  ];
}

interface DeploymentSpec {
  readonly replicas: number;
  readonly template: {
    readonly spec: { readonly containers: readonly { image: string; ports: readonly { containerPort: number }[] }[] };
  };
}

function runsNginx(deployment: KubeObject): boolean {
  const { replicas, template } = deployment['spec'] as DeploymentSpec;
  const [container] = template.spec.containers;
  return replicas === 1 && container?.image === 'nginx:latest' && container.ports[0]?.containerPort === 80;
}

const offersPort80 = (service: KubeObject): boolean =>
  (service['spec'] as { readonly ports: readonly { port: number }[] }).ports.some(({ port }) => port === 80);
