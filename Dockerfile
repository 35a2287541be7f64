# A static program in an image that has nothing else:
#
#   docker build --tag selvedge .
#   docker run --rm --volume "$PWD:/work" selvedge check models/
FROM rust:1.95-slim-bookworm AS build
WORKDIR /source
RUN rustup target add "$(uname -m)-unknown-linux-musl"
COPY . .
RUN cargo build --release --locked --package selvedge --target "$(uname -m)-unknown-linux-musl" \
    && cp "target/$(uname -m)-unknown-linux-musl/release/selvedge" /selvedge \
    && strip /selvedge

FROM scratch
COPY --from=build /selvedge /selvedge
WORKDIR /work
ENTRYPOINT ["/selvedge"]
CMD ["--help"]
