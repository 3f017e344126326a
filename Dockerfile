# docker build -t gossamer . && docker run --rm -v "$PWD:/work" gossamer plan torus:8x8 allgather
FROM python:3.12-slim
COPY . /src
RUN pip install --no-cache-dir /src && rm -rf /src
ENV NUMBA_CACHE_DIR=/opt/kernels
RUN mkdir -m 1777 /opt/kernels && for task in allgather alltoall broadcast allreduce; do gossamer plan torus:4x4 $task >/dev/null; done
RUN useradd --create-home gossamer && chown -R gossamer /opt/kernels
USER gossamer
WORKDIR /work
ENTRYPOINT ["gossamer"]
