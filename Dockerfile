# syntax=docker/dockerfile:1
# The operator's image: Node itself and one file. No shell, no package manager, nothing that it could write to.
#
#   docker build --build-arg REVISION="$(git rev-parse HEAD)" -t REGISTRY/reprise:VERSION .
#
# For releases give both bases with their digest (docker buildx imagetools inspect IMAGE prints it): a tag can be moved.
#   --build-arg NODE_IMAGE=docker.io/library/node:24.21.0-bookworm-slim@sha256:… --build-arg BASE_IMAGE=…@sha256:…
ARG NODE_IMAGE=docker.io/library/node:24.21.0-bookworm-slim
# glibc, libstdc++, libgcc, CA certificates, /etc/passwd with `nonroot`. Of the same Debian release as NODE_IMAGE.
ARG BASE_IMAGE=gcr.io/distroless/cc-debian12:nonroot

FROM ${NODE_IMAGE} AS build
WORKDIR /src
# Apart from the sources, so that a changed source does not install the dependencies again.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
# Only what .dockerignore lets through: the sources of the operator.
COPY . .
RUN node tools/bundle.ts

FROM ${BASE_IMAGE}
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="reprise" \
      org.opencontainers.image.description="Kubernetes operator that serves custom resources from TypeScript" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# The very Node of the build stage, and of the tests.
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /src/build/operator/main.mjs /app/main.mjs
WORKDIR /app
# By number: the kubelet refuses names where root is forbidden.
USER 65532:65532
# Probes and metrics; see --health-probe-bind-address and --metrics-bind-address.
EXPOSE 8081 8080
ENTRYPOINT ["/usr/local/bin/node", "/app/main.mjs"]
