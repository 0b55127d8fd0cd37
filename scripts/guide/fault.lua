lab.spin(1)
lab.cuda.trap()
lab.synchronize()
